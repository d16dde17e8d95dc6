import { sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { recordEvents } from '../../../people/audit/record.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { nextUpdatedAt } from '../../../platform/http/unchanged.ts';
import { announceStates } from '../../workflow/announce-states.ts';
import { checkRule, readStateRule, type StateRule } from '../../workflow/moves.ts';
import { type Changed, changeRows, type ReadRow } from '../rows.ts';
import {
  type Action,
  changedSince,
  type Outcome,
  refused,
  refusedBy,
  type Step,
  type StepResult,
  type UndoRecord,
  unchanged,
} from '../step.ts';

interface StateRow extends ReadRow {
  state_id: string | null;
  code: string | null;
}

/** The states before and after, with the codes that the audit log shows. */
interface StateRecord {
  before: string | null;
  after: string | null;
  from: string | null;
  to: string | null;
}

/** Only this module writes records of its actions. */
const recordOf = (record: UndoRecord | null) => record as unknown as StateRecord;

/** Returns the rule of a state of assets; throws for an unknown state and for one of another domain. */
async function ruleOf(tx: Tx, stateId: string): Promise<StateRule> {
  const state = await tx
    .selectFrom('workflow_states')
    .select(['domain', 'code'])
    .where('id', '=', stateId)
    .executeTakeFirst();
  if (state === undefined) throw refuse('state-not-found');
  if (state.domain !== 'asset') throw refuse('state-of-other-domain', { domain: state.domain });
  const rule = await readStateRule(tx, 'asset', state.code);
  if (rule === null) throw refuse('state-not-found');
  return rule;
}

/** WORKFLOW-2: why the asset may not move; null if it may. */
function whyNot(caller: SignedIn, from: string | null, rule: StateRule): Outcome | null {
  try {
    checkRule(caller, from, rule);
    return null;
  } catch (error) {
    return refusedBy(error);
  }
}

async function write({ tx, caller }: Step, changed: readonly Changed<StateRow>[]): Promise<void> {
  const states = changed.map(({ row, record }) => ({ id: row.id, state_id: recordOf(record).after }));
  await sql`update assets a set state_id = r.state_id, updated_at = ${nextUpdatedAt}
    from jsonb_to_recordset(${JSON.stringify(states)}::jsonb) as r (id uuid, state_id uuid) where a.id = r.id`.execute(
    tx,
  );
  const events = changed.map(({ row, record }) => {
    const { from, to } = recordOf(record);
    return {
      event: 'asset.state.changed',
      target: { kind: 'asset' as const, id: row.id },
      metadata: { from, to },
    };
  });
  await recordEvents(tx, caller, events);
  const byState = Map.groupBy(states, ({ state_id }) => state_id);
  for (const [stateId, moved] of byState)
    if (stateId !== null)
      await announceStates(
        tx,
        caller,
        stateId,
        moved.map(({ id }) => id),
      );
}

type Judge = Parameters<typeof changeRows<StateRow>>[1]['judge'];

function stateAction(step: Step, judge: Judge): Promise<StepResult> {
  return changeRows<StateRow>(step, {
    subject: 'asset',
    columns: sql`a.state_id, (select s.code from workflow_states s where s.id = a.state_id) as code`,
    judge,
    write: (changed) => write(step, changed),
    edited: null,
  });
}

/** Moves assets to a state of their domain that may follow theirs. */
export function setAssetState(stateId: string): Action {
  return async (step) => {
    const rule = await ruleOf(step.tx, stateId);
    const { code: to } = rule;
    return stateAction(step, ({ state_id: before, code: from }) => {
      if (before === stateId) return unchanged;
      return (
        whyNot(step.caller, from, rule) ?? {
          outcome: 'changed',
          record: { before, after: stateId, from, to },
        }
      );
    });
  };
}

/**
 * Moves assets back. What the batch was allowed to do may be undone, whichever state may follow which, unless the state has
 * been removed since (WORKFLOW-3).
 */
export const undoAssetState: Action = async (step) => {
  const states = await step.tx
    .selectFrom('workflow_states')
    .select('id')
    .where('domain', '=', 'asset')
    .execute();
  const present = new Set<string | null>(states.map(({ id }) => id));
  return stateAction(step, ({ state_id: stateId }, record) => {
    const { before, after, from, to } = recordOf(record);
    if (stateId !== after) return changedSince;
    if (before !== null && !present.has(before)) return refused(refuse('state-not-found').sentence);
    return { outcome: 'changed', record: { before: after, after: before, from: to, to: from } };
  });
};
