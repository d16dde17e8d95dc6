import { sql } from 'kysely';
import { recordEvents } from '../../../people/audit/record.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { nextUpdatedAt } from '../../../platform/http/unchanged.ts';
import { type Changed, changeRows, type ReadRow } from '../rows.ts';
import {
  type Action,
  changedSince,
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

/** Returns the code of a state of assets; throws for an unknown state and for one of another domain. */
async function codeOf(tx: Tx, stateId: string): Promise<string> {
  const state = await tx
    .selectFrom('workflow_states')
    .select(['domain', 'code'])
    .where('id', '=', stateId)
    .executeTakeFirst();
  if (state === undefined) throw refuse('state-not-found');
  if (state.domain !== 'asset') throw refuse('state-of-other-domain', { domain: state.domain });
  return state.code;
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

/** Moves assets to a state of their domain; any state may follow any other. */
export function setAssetState(stateId: string): Action {
  return async (step) => {
    const to = await codeOf(step.tx, stateId);
    return stateAction(step, ({ state_id: before, code: from }) =>
      before === stateId ? unchanged : { outcome: 'changed', record: { before, after: stateId, from, to } },
    );
  };
}

export const undoAssetState: Action = (step) =>
  stateAction(step, ({ state_id: stateId }, record) => {
    const { before, after, from, to } = recordOf(record);
    return stateId === after
      ? { outcome: 'changed', record: { before: after, after: before, from: to, to: from } }
      : changedSince;
  });
