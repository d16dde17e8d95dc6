import type { DefaultValue, FieldDefinition } from '@vitrine/contract/fields';
import { mergeFieldTerms } from '@vitrine/contract/vocabulary';
import { sql } from 'kysely';
import { shownDefinitions } from '../../../access/fields.ts';
import { handle } from '../../../core/handle.ts';
import { notifyPeersOfField, notifyPeersOfValues } from '../../../core/outbox/enqueue.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { nextUpdatedAt } from '../../../platform/http/unchanged.ts';
import { readTerm } from '../definitions/condition.ts';
import {
  definitionChanged,
  type LockedField,
  lockDefinitions,
  lockVocabulary,
} from '../definitions/transaction.ts';
import { AT_ONCE, isMerging, startMerge } from '../run.ts';
import { findSubjects, type Merge, moveValues, valuesOf } from './move.ts';

interface LockedMerge extends Merge {
  field: LockedField;
}

interface Ends {
  status: string;
  replaced_by: string | null;
  has_children: boolean;
  /** Whether it has narrower terms that are not archived, other than the source. */
  has_narrower: boolean;
}

/** Throws a 400 when the terms cannot be merged. */
async function checkEnds(tx: Tx, { field, source, target }: LockedMerge): Promise<void> {
  if (source === target) throw refuse('merge-into-itself');
  const { rows } = await sql<Ends & { value: string }>`
    select t.value, t.status, t.replaced_by, exists (
      select from field_terms c where c.field_id = t.field_id and c.parent = t.value) as has_children, exists (
      select from field_terms c where c.field_id = t.field_id and c.parent = t.value and c.status <> 'archived'
        and c.value <> ${source}) as has_narrower
    from field_terms t where t.field_id = ${field.id} and t.value in (${source}, ${target})`.execute(tx);
  const ends = new Map(rows.map((row) => [row.value, row]));
  for (const [name, value] of [
    ['source', source],
    ['target', target],
  ] as const) {
    if (!ends.has(value)) throw refuse('merge-term-not-found', { property: name, term: value });
  }
  if (ends.get(target)?.status === 'archived') throw refuse('merge-into-archived', { term: target });
  if (ends.get(target)?.replaced_by != null) throw refuse('merge-into-replaced', { term: target });
  // TERM-5: values are leaves.
  if (ends.get(target)?.has_narrower) throw refuse('merge-into-parent', { term: target });
  if (ends.get(source)?.status === 'archived' && ends.get(source)?.replaced_by != null)
    throw refuse('merge-of-merged', { term: source });
  if (ends.get(source)?.has_children) throw refuse('merge-of-parent', { term: source });
}

/** Returns the default with the target in place of the source, or null when it does not name the source. */
function withTarget(value: DefaultValue | null, { source, target }: Merge): DefaultValue | null {
  if (value?.value_text === source) return { ...value, value_text: target };
  if (!value?.value_options?.includes(source)) return null;
  const options = value.value_options.map((slug) => (slug === source ? target : slug));
  return { ...value, value_options: [...new Set(options)] };
}

interface DefaultToMove {
  /** Null for the field's own default. */
  teamId: string | null;
  value: DefaultValue;
}

async function defaultsToMove(tx: Tx, merge: LockedMerge): Promise<DefaultToMove[]> {
  const { rows } = await sql<{ team_id: string; default_value: DefaultValue }>`
    select team_id, default_value from field_default_overrides where field_id = ${merge.field.id}`.execute(
    tx,
  );
  const all = [
    { teamId: null, value: merge.field.default_value },
    ...rows.map((row) => ({ teamId: row.team_id, value: row.default_value })),
  ];
  return all.flatMap(({ teamId, value }) => {
    const moved = withTarget(value, merge);
    return moved === null ? [] : [{ teamId, value: moved }];
  });
}

async function moveDefaults(
  tx: Tx,
  { field }: LockedMerge,
  defaults: readonly DefaultToMove[],
): Promise<void> {
  const own = defaults.find(({ teamId }) => teamId === null);
  if (own !== undefined) {
    const set = { default_value: JSON.stringify(own.value), updated_at: nextUpdatedAt };
    await tx.updateTable('fields').set(set).where('id', '=', field.id).execute();
  }
  const overrides = defaults.flatMap(({ teamId, value }) =>
    teamId === null ? [] : [{ team: teamId, value }],
  );
  await sql`update field_default_overrides o set default_value = x.value, updated_at = ${nextUpdatedAt}
    from jsonb_to_recordset(${JSON.stringify(overrides)}::jsonb) as x (team uuid, value jsonb)
    where o.field_id = ${field.id} and o.team_id = x.team`.execute(tx);
}

type Conditioned = Pick<FieldDefinition, 'id'> & { display_condition: string[] };

/** Returns conditions of other fields that name the source, rewritten to name the target. */
async function conditionsToMove(tx: Tx, { field, source, target }: LockedMerge): Promise<Conditioned[]> {
  const { rows } = await sql<Conditioned>`
    select id, display_condition from fields where display_condition is not null and subject_kind = ${field.subject_kind}`.execute(
    tx,
  );
  return rows.flatMap(({ id, display_condition }) => {
    const moved = display_condition.map((text) => {
      const term = readTerm(text);
      const asks = term?.code === field.code && term.operator === '=' && term.value === source;
      return asks ? `${field.code}=${target}` : text;
    });
    const isMoved = moved.some((text, index) => text !== display_condition[index]);
    return isMoved ? [{ id, display_condition: moved }] : [];
  });
}

async function moveConditions(tx: Tx, conditions: readonly Conditioned[]): Promise<void> {
  const rows = conditions.map(({ id, display_condition }) => ({ field: id, terms: display_condition }));
  await sql`update fields d set display_condition = x.terms, updated_at = ${nextUpdatedAt}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (field uuid, terms text[])
    where d.id = x.field`.execute(tx);
}

/** Archives the source as a tombstone, and redirects successors and aliases that point to it. */
async function bury(tx: Tx, { field, source, target }: LockedMerge): Promise<void> {
  await sql`update field_terms set replaced_by = ${target}
    where field_id = ${field.id} and replaced_by = ${source}`.execute(tx);
  await sql`update field_term_aliases set value = ${target}
    where field_id = ${field.id} and value = ${source}`.execute(tx);
  await sql`update field_terms set status = 'archived', replaced_by = ${target}
    where field_id = ${field.id} and value = ${source}`.execute(tx);
}

async function countAffected(tx: Tx, merge: Merge) {
  const { field, source } = merge;
  const { rows } = await sql<{ assets: number; collections: number; aliases: number }>`select
    (select count(*) from asset_field_values v where ${valuesOf(merge)}) as assets,
    (select count(*) from collection_field_values v where ${valuesOf(merge)}) as collections,
    (select count(*) from field_term_aliases x where x.field_id = ${field.id} and x.value = ${source}) as aliases
    `.execute(tx);
  return rows[0] ?? { assets: 0, collections: 0, aliases: 0 };
}

export const merge = handle(mergeFieldTerms, async ({ db }, { caller, params, body }) => {
  const answer = await db.transaction().execute(async (tx) => {
    await lockDefinitions(tx);
    const field = await lockVocabulary(tx, params.id, shownDefinitions(caller));
    const [source, target] = [body.source.normalize('NFC'), body.target.normalize('NFC')];
    const the: LockedMerge = { field, source, target };
    await checkEnds(tx, the);
    const defaults = await defaultsToMove(tx, the);
    const conditions = await conditionsToMove(tx, the);
    const report = {
      source: the.source,
      target: the.target,
      dry_run: body.dry_run ?? false,
      ...(await countAffected(tx, the)),
      defaults: defaults.length,
      conditions: conditions.length,
    };
    if (report.dry_run) return report;
    const total = report.assets + report.collections;
    const inSteps = total > AT_ONCE || (await isMerging(tx, field.id));
    // Every change of definitions takes this lock before it writes documents, so that two changes cannot deadlock.
    await definitionChanged(tx);
    for (const kind of inSteps ? [] : (['asset', 'collection'] as const))
      await moveValues(tx, caller.ref, the, kind, await findSubjects(tx, the, kind, AT_ONCE));
    await moveDefaults(tx, the, defaults);
    await moveConditions(tx, conditions);
    await bury(tx, the);
    await tx.updateTable('fields').set({ updated_at: nextUpdatedAt }).where('id', '=', field.id).execute();
    await notifyPeersOfField(tx, field.id, caller.ref);
    // The job notifies peers when it has moved the values.
    if (!inSteps) await notifyPeersOfValues(tx, field.id, caller.ref);
    await recordEvent(tx, caller, {
      event: 'field.terms.merged',
      target: { kind: 'field', id: field.id },
      metadata: { code: field.code, reason: body.reason, ...report },
    });
    if (!inSteps) return report;
    const run = await startMerge(tx, { fieldId: field.id, source, target, total, actorRef: caller.ref });
    return { ...report, run };
  });
  return { status: 200, body: answer };
});
