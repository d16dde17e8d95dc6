import type { Capability } from '@vitrine/contract/capabilities';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { checkMayEnter } from '../../access/workflow.ts';
import type { Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';

export type Domain = 'asset' | 'post';

/** Which states a state may follow, and what entering it needs. */
export interface StateRule {
  code: string;
  /** The codes of the states that it may follow. */
  follows: readonly string[];
  capability: Capability | null;
}

/** Returns the rule of a state; null if the domain has no such state. */
export async function readStateRule(db: Database, domain: Domain, code: string): Promise<StateRule | null> {
  const { rows } = await sql<StateRule>`
    select s.code, s.capability, array(select f.code from workflow_states f
      where f.domain = s.domain and s.code = any(f.moves_to)) as follows
    from workflow_states s where s.domain = ${domain} and s.code = ${code}`.execute(db);
  return rows[0] ?? null;
}

/**
 * WORKFLOW-2: throws 409 unless the state may follow `from`, and 403 unless the caller may enter it. Anything may follow no
 * state.
 */
export function checkRule(caller: SignedIn, from: string | null, rule: StateRule): void {
  if (from !== null && !rule.follows.includes(from))
    throw refuse('state-move-not-allowed', { from, to: rule.code });
  checkMayEnter(caller, rule.capability);
}

/** The same for one move. */
export async function checkMove(
  db: Database,
  caller: SignedIn,
  domain: Domain,
  from: string | null,
  to: string,
): Promise<void> {
  const rule = await readStateRule(db, domain, to);
  if (rule === null) throw refuse('state-not-found');
  checkRule(caller, from, rule);
}
