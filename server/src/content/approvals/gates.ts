import type { Gate } from '@vitrine/contract/limits';
import { sql } from 'kysely';
import {
  countedApprovals,
  hasApprovals,
  mayOverride,
  missingApprovers,
  requiredApprovals,
} from '../../access/approvals.ts';
import type { SignedIn } from '../../access/caller.ts';
import { recordEvents } from '../../people/audit/record.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { Refusal, refuse } from '../../platform/http/refuse.ts';

/** The gates that a post passes when it is published with this visibility. */
export function gatesOfPublishing(visibility: string | undefined): Gate[] {
  return visibility === 'public' ? ['publish', 'public_audience'] : ['publish'];
}

/** The refusal of an act without enough approvals. */
export function approvalRequired(required: number, approved: number, missing: readonly string[]): Refusal {
  // The text is bound by HTTP-1, so it has no parameters; the header has.
  return new Refusal('approval-required', { required, approved, missing });
}

/** Throws unless the caller may act without approvals for a reason: 409 without one, 403 without the capability. */
function checkOverride(caller: SignedIn, reason: string | null, refusal: Refusal): asserts reason is string {
  if (reason === null) throw refusal;
  if (!mayOverride(caller)) throw refuse('capability-missing', { capability: 'posts.approve.override' });
}

interface GateRow {
  gate: Gate;
  required: number;
  approved: number;
  missing: string[];
}

/**
 * APPROVAL-1: throws 409 unless a post has the approvals that an act needs, or the caller may override them and gives a
 * reason, which is audited. Called with the post's row locked, in the transaction of the act.
 */
export async function checkApprovals(
  tx: Tx,
  caller: SignedIn,
  postId: string,
  gates: readonly Gate[],
  overrideReason: string | null,
): Promise<void> {
  if (gates.length === 0) return;
  const each = gates.map(
    (gate) => sql`select ${gate}::text as gate, ${requiredApprovals(gate)} as required,
      ${countedApprovals(gate)} as approved, ${missingApprovers(gate)} as missing
    from posts p where p.id = ${postId} and not ${hasApprovals(gate)}`,
  );
  const { rows } = await sql<GateRow>`${sql.join(each, sql` union all `)}`.execute(tx);
  const lacking = rows.toSorted((a, b) => b.required - b.approved - (a.required - a.approved));
  const [worst] = lacking;
  if (worst === undefined) return;
  checkOverride(caller, overrideReason, approvalRequired(worst.required, worst.approved, worst.missing));
  const events = lacking.map(({ gate, required, approved }) => ({
    event: 'approval.overridden',
    target: { kind: 'post' as const, id: postId },
    metadata: { gate, required, approved, reason: overrideReason },
  }));
  await recordEvents(tx, caller, events);
}

/** The same for a post that is about to be created, which nobody can have approved. */
export async function checkNewPost(
  db: Database,
  caller: SignedIn,
  gates: readonly Gate[],
  overrideReason: string | null,
): Promise<void> {
  const all = gates.map((gate) => requiredApprovals(gate));
  const { rows } = await sql<{ required: number }>`select greatest(${sql.join(all)}) as required`.execute(db);
  const required = rows[0]?.required ?? 0;
  if (required > 0) checkOverride(caller, overrideReason, approvalRequired(required, 0, []));
}
