import type { CsvMatch } from '@vitrine/contract/asset-csv';
import { sql } from 'kysely';
import { editableAssets, readableAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound, Refusal, refuse } from '../../platform/http/refuse.ts';
import { rulesOf } from '../fields/types/registry.ts';
import { type PairRow, pairKey, readPairs, refusalOfPair, shownValue } from '../fields/values/pairs.ts';
import { readGiven } from '../fields/values/read-given.ts';
import { checkContent, checkItems, type Definition } from '../fields/values/rules.ts';
import { isSame, type TypedValue } from '../fields/values/typed-value.ts';
import { checkColumnLength, checkReferences, resolveTerms } from '../fields/values/write.ts';
import type { FieldColumn } from './columns.ts';
import { CLEAR, restored } from './formulas.ts';
import { type Header, readHeader, readKey } from './header.ts';
import type { CsvRow, ParsedFile } from './parse-file.ts';

/** A cell that differs from the value of its asset. */
export interface CellChange {
  readonly field: FieldColumn;
  readonly from: TypedValue | null;
  /** Null removes the value. */
  readonly to: TypedValue | null;
}

/** What a row would do. `id` is null if the row names no asset that the caller may change. */
export interface RowOutcome {
  readonly row: number;
  readonly id: string | null;
  readonly changes: readonly CellChange[];
  /** Why nothing of the row is written; null if nothing is in the way. */
  readonly reason: string | null;
}

type Matched = { readonly id: string } | { readonly id: string | null; readonly reason: string };

interface KeyRow {
  key: string;
  id: string;
  editable: boolean;
  found: number;
}

/** An error is made once, not for each of a million rows. */
const NOT_FOUND = notFound().message;

/** Matches keys with assets: an id with one that the caller may read, others with those that the caller may edit. */
async function matchKeys(
  tx: Tx,
  caller: SignedIn,
  match: CsvMatch,
  keys: readonly string[],
): Promise<Map<string, Matched>> {
  const { rows } =
    match === 'id'
      ? await sql<KeyRow>`select a.id as key, a.id, ${editableAssets(caller)} as editable, 1 as found
          from assets a where a.id = any(${keys}::uuid[]) and ${readableAssets(caller)}`.execute(tx)
      : await sql<KeyRow>`select x.key, min(x.id::text)::uuid as id, true as editable, count(*)::integer as found
          from (select a.${sql.ref(match === 'hash' ? 'file_hash' : 'file_name')} as key, a.id
            from assets a where ${editableAssets(caller)}) x
          where x.key = any(${keys}::text[]) group by x.key`.execute(tx);
  const found = new Map(rows.map((row) => [row.key, row]));
  return new Map(
    keys.map((key): [string, Matched] => {
      const row = found.get(key);
      if (row === undefined) return [key, { id: match === 'id' ? key : null, reason: NOT_FOUND }];
      if (row.found > 1) return [key, { id: null, reason: `${row.found} files match` }];
      return [key, row.editable ? { id: row.id } : { id: row.id, reason: refuse('not-owner').message }];
    }),
  );
}

interface Keyed extends CsvRow {
  readonly key: string;
}

/** A cell whose text differs from that of the value. */
interface Differing {
  readonly row: number;
  readonly name: string;
  readonly pair: PairRow;
  readonly field: Definition;
  readonly column: FieldColumn;
  readonly value: TypedValue;
  readonly before: TypedValue | null;
}

/** Runs a check and throws its refusal as a 422 that names the cell. */
async function ofCell<T>(
  { row, name }: { row: number; name: string },
  check: () => T | Promise<T>,
): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw refuse('csv-cell-invalid', { row, column: name, reason: error.message });
  }
}

/** Resolves terms and checks references of all cells at once; after a refusal one by one, to name the cell. */
async function resolveAll(tx: Tx, caller: SignedIn, cells: readonly Differing[]): Promise<TypedValue[]> {
  const resolve = async (some: readonly Differing[]) => {
    await checkReferences(tx, caller, some);
    return resolveTerms(tx, caller, some, { creates: false });
  };
  try {
    return await resolve(cells);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const resolved: TypedValue[] = [];
    for (const cell of cells) resolved.push(...(await ofCell(cell, () => resolve([cell]))));
    return resolved;
  }
}

/** Compares rows with the values of their assets (CSV-8). A cell that its field does not allow is a 422. */
async function compareRows(
  tx: Tx,
  caller: SignedIn,
  header: Header,
  rows: readonly Keyed[],
  decimal: '.' | ',',
): Promise<RowOutcome[]> {
  const keys = rows.map(({ key }) => key);
  const matched = await matchKeys(tx, caller, header.match, keys);
  const idOf = (key: string) => {
    const found = matched.get(key);
    return found === undefined || 'reason' in found ? null : found.id;
  };
  const filled = rows.flatMap(({ key, cells }) => {
    const assetId = idOf(key);
    const columns = header.fields.filter(({ at }) => (cells[at] ?? '') !== '');
    return assetId === null ? [] : columns.map(({ field }) => ({ assetId, fieldId: field.id }));
  });
  const pairs = await readPairs(tx, caller, filled);
  const reasons = new Map<number, string>();
  const changes = new Map<number, CellChange[]>();
  const differing: Differing[] = [];
  const change = (row: number, cell: CellChange) => changes.set(row, [...(changes.get(row) ?? []), cell]);
  for (const { row, key, cells } of rows) {
    const assetId = idOf(key);
    for (const { at, name, field: column } of header.fields) {
      const cell = cells[at] ?? '';
      if (cell === '') continue;
      const pair = assetId === null ? undefined : pairs.get(pairKey({ assetId, fieldId: column.id }));
      const field = { ...column, applies: pair?.applies ?? true };
      const before = pair === undefined ? null : shownValue(pair);
      if (cell === CLEAR) {
        if (pair === undefined || before === null) continue;
        const reason = refusalOfPair(field, pair, true);
        if (reason === null) change(row, { field: column, from: before, to: null });
        else reasons.set(row, reasons.get(row) ?? reason);
        continue;
      }
      const text = restored(cell);
      const { cells: written } = rulesOf[column.type];
      if (before !== null && written.write(before) === text) continue;
      const value = await ofCell({ row, name }, () => {
        const given = readGiven(field, written.read(column.code, text, decimal));
        checkContent(field, given);
        checkColumnLength(field, given);
        return given;
      });
      if (pair !== undefined) differing.push({ row, name, pair, field, column, value, before });
    }
  }
  const resolved = await resolveAll(tx, caller, differing);
  for (const [at, cell] of differing.entries()) {
    const { row, pair, field, column, before } = cell;
    const to = resolved[at] ?? cell.value;
    await ofCell(cell, () => checkItems(field, to));
    if (isSame(before, to)) continue;
    const reason = refusalOfPair(field, pair, false);
    if (reason === null) change(row, { field: column, from: before, to });
    else reasons.set(row, reasons.get(row) ?? reason);
  }
  return rows.map(({ row, key }) => {
    const found = matched.get(key);
    const reason = found !== undefined && 'reason' in found ? found.reason : (reasons.get(row) ?? null);
    return { row, id: found?.id ?? null, changes: reason === null ? (changes.get(row) ?? []) : [], reason };
  });
}

/** Rows per statement. */
const AT_ONCE = 1000;

/** Yields what the rows of a file would do, in their order. Throws a 422 or 413 for a file that cannot be taken. */
export async function* compareFile(
  tx: Tx,
  caller: SignedIn,
  file: ParsedFile,
  known: readonly FieldColumn[],
  match: CsvMatch,
): AsyncIterable<RowOutcome[]> {
  const decimal = file.separator === ',' ? '.' : ',';
  const seen = new Map<string, number>();
  let header: Header | null = null;
  let waiting: Keyed[] = [];
  for await (const row of file.rows()) {
    if (header === null) {
      header = readHeader(row, known, match);
      continue;
    }
    const key = readKey(header, row);
    const other = seen.get(key);
    if (other !== undefined)
      throw refuse('csv-row-repeated', {
        row: row.row,
        column: header.keyName,
        value: key.slice(0, 200),
        other,
      });
    seen.set(key, row.row);
    waiting.push({ ...row, key });
    if (waiting.length < AT_ONCE) continue;
    yield await compareRows(tx, caller, header, waiting, decimal);
    waiting = [];
  }
  if (header === null) throw refuse('csv-unreadable', { row: 1, reason: 'the file is empty' });
  if (waiting.length > 0) yield await compareRows(tx, caller, header, waiting, decimal);
}
