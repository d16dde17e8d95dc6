import { isOpenVocabulary } from '@vitrine/contract/field-types';
import { sql } from 'kysely';
import { Refusal } from '../../../platform/http/refuse.ts';
import { type PairRow, pairKey, readPairs, refusalOfPair } from '../../fields/values/pairs.ts';
import { readGiven } from '../../fields/values/read-given.ts';
import { checkContent, checkItems, type Definition } from '../../fields/values/rules.ts';
import { storeValue } from '../../fields/values/store.ts';
import {
  fromMembers,
  isSame,
  type StoredMembers,
  storedIn,
  type TypedValue,
  toMembers,
} from '../../fields/values/typed-value.ts';
import {
  checkColumnLength,
  checkReferences,
  createsTerms,
  resolveTerms,
  setByOf,
  setColumn,
} from '../../fields/values/write.ts';
import { type Changed, changeRows, type ReadRow } from '../rows.ts';
import {
  type Action,
  changedSince,
  type Outcome,
  refused,
  type Step,
  type UndoRecord,
  unchanged,
} from '../step.ts';

type FieldRow = Omit<Definition, 'applies'>;
type Values = Readonly<Record<string, StoredMembers | null>>;

/** The values of an asset's fields before and after the change, by the ids of the fields. */
interface ImportRecord {
  before: Values;
  after: Values;
}

/** Only this module writes records of its actions. */
const recordOf = (record: UndoRecord | null) => record as unknown as ImportRecord | null;

/** A field of an asset to write, and what it gets. */
interface Cell {
  readonly pair: PairRow;
  readonly field: Definition;
  readonly before: TypedValue | null;
  readonly given: StoredMembers | null;
}

/** Locks the definitions of these fields: against new terms by others if some value may create one. */
async function holdFields({ tx }: Step, wanted: readonly Values[]): Promise<Map<string, FieldRow>> {
  const ids = [...new Set(wanted.flatMap((values) => Object.keys(values)))];
  const read = async (lock: 'share' | 'no key update') => {
    const { rows } = await sql<FieldRow>`
      select d.id, d.code, d.label, d.type, d.options, d.open_vocabulary, d.required, d.read_only, d.regexp_filter,
        d.mirrors_column, d.status
      from fields d where d.id = any(${ids}::uuid[]) and d.subject_kind = 'asset' order by d.id
      for ${lock === 'share' ? sql`share` : sql`no key update`} of d`.execute(tx);
    return rows;
  };
  const open = await tx
    .selectFrom('fields')
    .select(['id', 'type', 'open_vocabulary'])
    .where('id', 'in', ids)
    .execute();
  const named = open.filter(isOpenVocabulary).flatMap((field) =>
    wanted.flatMap((values) => {
      const options = values[field.id]?.value_options;
      return options === undefined ? [] : [{ field, value: { kind: 'options' as const, options } }];
    }),
  );
  const rows = await read((await createsTerms(tx, named)) ? 'no key update' : 'share');
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns what each cell gets. Throws a Refusal like the operation for one value. */
async function resolveCells({ tx, caller }: Step, cells: readonly Cell[]): Promise<(TypedValue | null)[]> {
  const meant = cells.flatMap(({ field, before, given }) => {
    if (given === null) return [];
    const value = readGiven(field, given);
    checkContent(field, value);
    checkColumnLength(field, value);
    return [{ field, before, value }];
  });
  await checkReferences(tx, caller, meant);
  const resolved = await resolveTerms(tx, caller, meant);
  for (const [at, { field }] of meant.entries()) {
    const value = resolved[at];
    if (value !== undefined) checkItems(field, value);
  }
  let next = 0;
  return cells.map(({ given }) => (given === null ? null : (resolved[next++] ?? null)));
}

/** Decides about an asset, given what its cells get. */
function outcomeOf(cells: readonly Cell[], after: readonly (TypedValue | null)[]): Outcome {
  const changes = cells
    .map((cell, at) => ({ ...cell, after: after[at] ?? null }))
    .filter((cell) => !isSame(cell.before, cell.after));
  if (changes.length === 0) return unchanged;
  for (const { field, pair, after: value } of changes) {
    const refusal = refusalOfPair(field, pair, value === null);
    if (refusal !== null) return refused(refusal.sentence);
  }
  const byField = (value: (change: (typeof changes)[number]) => TypedValue | null) =>
    Object.fromEntries(changes.map((change) => [change.field.id, toMembers(value(change))]));
  const record = { before: byField(({ before }) => before), after: byField(({ after: value }) => value) };
  return { outcome: 'changed', record };
}

/** Decides about all assets at once; after a refusal one by one. */
async function decide(
  step: Step,
  cellsOf: ReadonlyMap<string, readonly Cell[]>,
): Promise<Map<string, Outcome>> {
  const assets = [...cellsOf];
  try {
    const after = await resolveCells(
      step,
      assets.flatMap(([, cells]) => cells),
    );
    let next = 0;
    return new Map(
      assets.map(([id, cells]) => {
        const own = after.slice(next, next + cells.length);
        next += cells.length;
        return [id, outcomeOf(cells, own)];
      }),
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const decided = new Map<string, Outcome>();
    for (const [id, cells] of assets) {
      try {
        decided.set(id, outcomeOf(cells, await resolveCells(step, cells)));
      } catch (refusal) {
        if (!(refusal instanceof Refusal)) throw refusal;
        decided.set(id, refused(refusal.sentence));
      }
    }
    return decided;
  }
}

async function write(
  { tx, caller }: Step,
  changed: readonly Changed<ReadRow>[],
  cellsOf: ReadonlyMap<string, readonly Cell[]>,
): Promise<void> {
  for (const { row, record } of changed) {
    const after: Values = recordOf(record)?.after ?? {};
    for (const { pair, field, before } of cellsOf.get(row.id) ?? []) {
      if (!(field.id in after)) continue;
      const value = fromMembers(after[field.id] ?? null);
      const subject = { kind: 'asset' as const, id: row.id };
      if (field.mirrors_column !== null) {
        await setColumn(tx, subject, field, value);
        continue;
      }
      const stored =
        before === null || pair.set_by === null || pair.set_at === null
          ? null
          : { value: before, setBy: pair.set_by, setAt: pair.set_at };
      await storeValue(tx, {
        subject,
        fieldId: field.id,
        before: stored,
        after: value,
        setBy: setByOf(caller),
        userRef: caller.ref,
      });
    }
  }
}

/** Writes these values of each asset, or none of an asset of which one is refused. */
async function writeValues(
  step: Step,
  valuesOf: ReadonlyMap<string, Values>,
  judge: (id: string, decided: Outcome, cells: readonly Cell[]) => Outcome,
) {
  const fields = await holdFields(step, [...valuesOf.values()]);
  const cellsOf = new Map<string, readonly Cell[]>();
  let decided = new Map<string, Outcome>();
  return changeRows<ReadRow>(step, {
    subject: 'asset',
    async prepare(rows) {
      const wanted = rows.flatMap(({ id }) =>
        Object.keys(valuesOf.get(id) ?? {}).map((fieldId) => ({ assetId: id, fieldId })),
      );
      const pairs = await readPairs(step.tx, step.caller, wanted);
      for (const { id } of rows) {
        const cells = Object.entries(valuesOf.get(id) ?? {}).flatMap(([fieldId, given]) => {
          const pair = pairs.get(pairKey({ assetId: id, fieldId }));
          const field = fields.get(fieldId);
          if (pair === undefined || field === undefined) return [];
          return [{ pair, field: { ...field, applies: pair.applies }, before: storedIn(pair), given }];
        });
        cellsOf.set(id, cells);
      }
      decided = await decide(step, cellsOf);
    },
    judge: ({ id }) => judge(id, decided.get(id) ?? unchanged, cellsOf.get(id) ?? []),
    write: (changed) => write(step, changed, cellsOf),
    edited: [...fields.values()].map(({ code }) => code),
    properties: ({ record }) =>
      Object.keys(recordOf(record)?.after ?? {}).flatMap((id) => fields.get(id)?.mirrors_column ?? []),
  });
}

/** Writes what an import has stored with each asset (CSV-10). */
export const importValues: Action = (step) =>
  writeValues(step, new Map(step.items.map(({ id, given }) => [id, given ?? {}])), (_, decided) => decided);

/** Writes the former values again, unless somebody has changed one of them since. */
export const undoImport: Action = (step) => {
  const records = new Map(step.items.map(({ id, record }) => [id, recordOf(record)]));
  return writeValues(
    step,
    new Map([...records].map(([id, record]) => [id, record?.before ?? {}])),
    (id, decided, cells) => {
      const after = records.get(id)?.after ?? {};
      const isAsWritten = cells.every(({ field, before }) =>
        isSame(before, fromMembers(after[field.id] ?? null)),
      );
      return isAsWritten ? decided : changedSince;
    },
  );
};
