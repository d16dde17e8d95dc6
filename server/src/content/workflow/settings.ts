import { getWorkflow, updateWorkflow, type WorkflowRule } from '@vitrine/contract/workflow';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { readSetting, writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';

interface StateRow extends Omit<WorkflowRule, 'capability'> {
  capability: NonNullable<WorkflowRule['capability']> | null;
  seeded: boolean;
}

async function readStates(db: Database): Promise<StateRow[]> {
  const { rows } = await sql<StateRow>`
    select s.domain, s.code, s.label, s.sort_order, s.moves_to, s.capability, s.seeded
    from workflow_states s order by s.domain, s.sort_order, s.code`.execute(db);
  return rows;
}

async function readWorkflow(db: Database) {
  const states = (await readStates(db)).map(({ capability, seeded: _, ...state }) => ({
    ...state,
    ...(capability === null ? {} : { capability }),
  }));
  return { states, reopen_on_change: (await readSetting(db, 'reopen_on_change')) !== false };
}

const keyOf = ({ domain, code }: Pick<WorkflowRule, 'domain' | 'code'>) => `${domain} ${code}`;

/** WORKFLOW-3: throws 400 or 409 unless the list of states may replace the present one. */
function checkStates(given: readonly WorkflowRule[], present: readonly StateRow[]): void {
  const keys = new Set(given.map(keyOf));
  if (keys.size < given.length) throw refuse('state-repeated');
  const missing = present.find((state) => state.seeded && !keys.has(keyOf(state)));
  if (missing !== undefined) throw refuse('state-seeded', { state: missing.code });
  const seeded = new Set(present.filter((state) => state.seeded).map(keyOf));
  const another = given.find((state) => state.domain === 'post' && !seeded.has(keyOf(state)));
  if (another !== undefined) throw refuse('states-of-posts-fixed', { state: another.code });
  for (const { domain, moves_to } of given) {
    const unknown = moves_to.find((code) => !keys.has(keyOf({ domain, code })));
    if (unknown !== undefined) throw refuse('state-moves-unknown', { state: unknown });
  }
}

/** Removes the states that the list lacks; 409 if assets have one of them, also in the trash. */
async function removeOthers(tx: Tx, given: readonly WorkflowRule[]): Promise<void> {
  const kept = given.map(keyOf);
  const { rows } = await sql<{ code: string }>`
    select s.code from workflow_states s where s.domain || ' ' || s.code <> all(${kept}::text[])
      and exists (select from assets a where a.state_id = s.id) order by s.code limit 1`.execute(tx);
  if (rows[0] !== undefined) throw refuse('state-in-use', { state: rows[0].code });
  await sql`delete from workflow_states where domain || ' ' || code <> all(${kept}::text[])`.execute(tx);
}

async function writeStates(tx: Tx, given: readonly WorkflowRule[]): Promise<void> {
  // One change at a time.
  await sql`lock table workflow_states in share row exclusive mode`.execute(tx);
  checkStates(given, await readStates(tx));
  await removeOthers(tx, given);
  const states = JSON.stringify(given);
  await sql`insert into workflow_states (id, domain, code, label, sort_order, moves_to, capability)
    select gen_random_uuid(), g.domain, g.code, trim(g.label), g.sort_order,
      array(select jsonb_array_elements_text(g.moves_to)), g.capability
    from jsonb_to_recordset(${states}::jsonb) as g (domain text, code text, label text, sort_order integer,
      moves_to jsonb, capability text)
    on conflict (domain, code) do update set label = excluded.label, sort_order = excluded.sort_order,
      moves_to = excluded.moves_to, capability = excluded.capability`.execute(tx);
}

/** `GET /admin/system/workflow`. */
export const showWorkflow = handle(getWorkflow, async ({ db }) => ({
  status: 200,
  body: await readWorkflow(db),
}));

/** `PATCH /admin/system/workflow`. */
export const changeWorkflow = handle(updateWorkflow, async ({ db }, { caller, body }) => {
  const workflow = await db.transaction().execute(async (tx) => {
    if (body.states != null) await writeStates(tx, body.states);
    if (body.reopen_on_change != null) await writeSetting(tx, 'reopen_on_change', body.reopen_on_change);
    const changed = await readWorkflow(tx);
    await recordEvent(tx, caller, { event: 'system.workflow.changed', metadata: changed });
    return changed;
  });
  return { status: 200, body: workflow };
});
