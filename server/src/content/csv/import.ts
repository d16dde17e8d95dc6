import { type CsvPreview, importAssets, mostCsvBytes, mostCsvListed } from '@vitrine/contract/asset-csv';
import type { Language } from '@vitrine/contract/languages';
import type { QueryOf } from '@vitrine/contract/operation';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { handleForm } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { JsonText } from '../../platform/http/answer.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { type Sentence, saySentence, sentence, storedForm } from '../../platform/language/sentence.ts';
import type { Received } from '../assets/receive.ts';
import { addItems, createBatch, enqueueBatch, type NewItem } from '../batches/store.ts';
import { rulesOf } from '../fields/types/registry.ts';
import { type TypedValue, toMembers } from '../fields/values/typed-value.ts';
import { readColumns } from './columns.ts';
import { type CellChange, compareFile, type RowOutcome } from './compare.ts';
import { csvForm } from './form.ts';
import { withCsvFile } from './read.ts';

const wordsOf = ({ type }: CellChange['field'], value: TypedValue | null) =>
  value === null ? null : rulesOf[type].cells.write(value);

/** A row that is refused; its reason is worded when it is listed. */
type Refused = Omit<CsvPreview['refused'][number], 'reason'> & { readonly reason: Sentence };

interface Listed extends Pick<CsvPreview, 'changes'> {
  readonly refused: readonly Refused[];
}

/** Returns the changes and the refusal of a row as the preview lists them. */
function listedOf({ row, id, changes, reason }: RowOutcome): Listed {
  if (reason !== null) return { changes: [], refused: [{ row, ...(id === null ? {} : { id }), reason }] };
  if (id === null) return { changes: [], refused: [] };
  return {
    changes: changes.map(({ field, from, to }) => ({
      id,
      field: field.code,
      from: wordsOf(field, from),
      to: wordsOf(field, to),
    })),
    refused: [],
  };
}

/**
 * Gathers the first entries of a list as bytes of JSON, outside the heap: a hundred thousand of them need a fraction of the
 * room of the objects, and are sent without being joined.
 */
function gathering<T>(shown: (one: T) => object) {
  const pieces: Buffer[] = [];
  let count = 0;
  return {
    add(some: readonly T[]) {
      const listed = some.slice(0, Math.max(0, mostCsvListed - count)).map(shown);
      count += some.length;
      if (listed.length === 0) return;
      const text = JSON.stringify(listed).slice(1, -1);
      pieces.push(Buffer.from(pieces.length === 0 ? text : `,${text}`));
    },
    count: () => count,
    pieces,
  };
}

/** Returns what would change, without writing (CSV-9). */
async function preview(
  outcomes: AsyncIterable<RowOutcome[]>,
  language: Language,
): Promise<JsonText<CsvPreview>> {
  const changes = gathering<CsvPreview['changes'][number]>((change) => change);
  const refused = gathering<Refused>(({ reason, ...row }) => ({
    ...row,
    reason: saySentence(language, reason),
  }));
  const seen = { rows: 0, changed: 0, unchanged: 0 };
  for await (const some of outcomes) {
    const listed = some.map(listedOf);
    changes.add(listed.flatMap((one) => one.changes));
    refused.add(listed.flatMap((one) => one.refused));
    const changed = listed.filter((one) => one.changes.length > 0).length;
    seen.rows += some.length;
    seen.changed += changed;
    seen.unchanged += some.length - changed - listed.filter((one) => one.refused.length > 0).length;
  }
  const counts = { ...seen, change_count: changes.count(), refused_count: refused.count() };
  return new JsonText([
    Buffer.from(`${JSON.stringify(counts).slice(0, -1)},"changes":[`),
    ...changes.pieces,
    Buffer.from('],"refused":['),
    ...refused.pieces,
    Buffer.from(']}'),
  ]);
}

/** Stands for the asset of a row that names none. */
const NO_ASSET = '00000000-0000-0000-0000-000000000000';

function itemOf({ id, changes, reason, row }: RowOutcome): NewItem {
  const isWaiting = reason === null && changes.length > 0;
  return {
    position: row,
    object_id: id ?? NO_ASSET,
    given: isWaiting ? Object.fromEntries(changes.map(({ field, to }) => [field.id, toMembers(to)])) : null,
    outcome: isWaiting ? null : reason === null ? 'unchanged' : 'refused',
    reason:
      reason === null ? null : storedForm(sentence('row {row}: {reason}', { row: String(row), reason })),
  };
}

/** Stores a batch that writes the differences, and enqueues its job (CSV-10). */
async function store(tx: Tx, caller: SignedIn, outcomes: AsyncIterable<RowOutcome[]>): Promise<string> {
  const id = await createBatch(tx, caller, { subject: 'asset', action: { kind: 'import_csv' } });
  for await (const some of outcomes) await addItems(tx, id, some.map(itemOf));
  await enqueueBatch(tx, id);
  return id;
}

function run(
  { db }: Deps,
  caller: SignedIn,
  { path }: Received,
  { dry_run, match = 'id' }: QueryOf<typeof importAssets>,
  language: Language,
) {
  return withCsvFile(path, (file) =>
    db.transaction().execute(async (tx) => {
      const outcomes = compareFile(tx, caller, file, await readColumns(tx, caller), match);
      return dry_run === true
        ? { status: 200 as const, body: await preview(outcomes, language) }
        : { status: 202 as const, body: { job_id: await store(tx, caller, outcomes) } };
    }),
  );
}

/** `POST /assets/import.csv`. */
export const importCsv = handleForm(
  importAssets,
  csvForm(mostCsvBytes),
  async (deps, { caller, http, query, form }) => {
    if (form === null) throw refuse('form-required');
    return run(deps, caller, form, query, readerLanguage(caller, http));
  },
);
