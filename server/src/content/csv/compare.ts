import type { CsvMatch } from '@vitrine/contract/asset-csv';
import type { SignedIn } from '../../access/caller.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { Refusal, refuse } from '../../platform/http/refuse.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { rulesOf } from '../fields/types/registry.ts';
import { refusalOfPair } from '../fields/values/pairs.ts';
import { readGiven } from '../fields/values/read-given.ts';
import { checkContent, checkItems, type Definition } from '../fields/values/rules.ts';
import { isSame, type TypedValue } from '../fields/values/typed-value.ts';
import { checkColumnLength, checkReferences, resolveTerms } from '../fields/values/write.ts';
import type { FieldColumn } from './columns.ts';
import { type CurrentCell, readCurrent } from './current.ts';
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
  readonly reason: Sentence | null;
}

interface Keyed extends CsvRow {
  readonly key: string;
}

/** A cell whose text differs from that of the value. */
interface Differing {
  readonly row: number;
  readonly name: string;
  readonly current: CurrentCell;
  readonly field: Definition;
  readonly column: FieldColumn;
  readonly value: TypedValue;
  readonly before: TypedValue | null;
}

interface CellName {
  readonly row: number;
  readonly name: string;
}

/** Returns the refusal of a check as a 422 that names the cell, and any other error as it is. */
function errorOfCell({ row, name }: CellName, error: unknown): unknown {
  return error instanceof Refusal
    ? refuse('csv-cell-invalid', { row, column: name, reason: error.sentence })
    : error;
}

/** Runs a check of a cell. */
function inCell<T>(cell: CellName, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw errorOfCell(cell, error);
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
    for (const cell of cells)
      resolved.push(
        ...(await resolve([cell]).catch((refusal: unknown) => {
          throw errorOfCell(cell, refusal);
        })),
      );
    return resolved;
  }
}

/** What the rows of a file would do, as far as it is known: their changes, or the first reason against each row. */
function outcomesOf() {
  const changes = new Map<number, CellChange[]>();
  const reasons = new Map<number, Sentence>();
  return {
    changes,
    reasons,
    /** Notes a change unless the caller may not make it. */
    add(row: number, change: CellChange, current: CurrentCell) {
      const { write_capability } = change.field;
      const refusal = refusalOfPair(change.field, { ...current, write_capability }, change.to === null);
      if (refusal !== null) reasons.set(row, reasons.get(row) ?? refusal.sentence);
      else {
        const others = changes.get(row);
        if (others === undefined) changes.set(row, [change]);
        else others.push(change);
      }
    },
  };
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
  const filled = header.fields.filter(({ at }) => rows.some(({ cells }) => (cells[at] ?? '') !== ''));
  const fields = filled.map(({ field }) => field);
  const current = await readCurrent(tx, caller, header.match, keys, fields);
  const outcomes = outcomesOf();
  const differing: Differing[] = [];
  for (const [place, { row, cells }] of rows.entries()) {
    for (const [columnPlace, { at, name, field: column }] of filled.entries()) {
      const cell = cells[at] ?? '';
      if (cell === '') continue;
      const now = current.cellAt(place, columnPlace);
      const before = now?.value ?? null;
      if (cell === CLEAR) {
        if (now !== null && before !== null)
          outcomes.add(row, { field: column, from: before, to: null }, now);
        continue;
      }
      const text = restored(cell);
      const { cells: written } = rulesOf[column.type];
      if (before !== null && written.write(before) === text) continue;
      const field = { ...column, applies: now?.applies ?? true };
      const value = inCell({ row, name }, () => {
        const given = readGiven(field, written.read(column.code, text, decimal));
        checkContent(field, given);
        checkColumnLength(field, given);
        return given;
      });
      if (now !== null) differing.push({ row, name, current: now, field, column, value, before });
    }
  }
  const resolved = await resolveAll(tx, caller, differing);
  for (const [at, cell] of differing.entries()) {
    const { row, column, before } = cell;
    const to = resolved[at] ?? cell.value;
    inCell(cell, () => checkItems(cell.field, to));
    if (!isSame(before, to)) outcomes.add(row, { field: column, from: before, to }, cell.current);
  }
  return rows.map(({ row }, place) => {
    const matched = current.matchedAt(place);
    const reason = 'reason' in matched ? matched.reason : (outcomes.reasons.get(row) ?? null);
    return { row, id: matched.id, changes: reason === null ? (outcomes.changes.get(row) ?? []) : [], reason };
  });
}

/** Reads the header and the keys of a file. A key that a row above has is a 422. */
function keyReader(known: readonly FieldColumn[], match: CsvMatch) {
  const seen = new Map<string, number>();
  let header: Header | null = null;
  return {
    header: () => header,
    /** Returns the row with its key; null for the header. */
    read(row: CsvRow): Keyed | null {
      if (header === null) {
        header = readHeader(row, known, match);
        return null;
      }
      const key = readKey(header, row);
      const name = key.normalize('NFC');
      const other = seen.get(name);
      if (other !== undefined) {
        const value = key.slice(0, 200);
        throw refuse('csv-row-repeated', { row: row.row, column: header.keyName, value, other });
      }
      seen.set(name, row.row);
      return { ...row, key };
    },
  };
}

/** Yields what the rows of a file would do, in their order. Throws a 422 or 413 for a file that cannot be taken. */
export async function* compareFile(
  tx: Tx,
  caller: SignedIn,
  file: ParsedFile,
  known: readonly FieldColumn[],
  match: CsvMatch,
): AsyncIterable<RowOutcome[]> {
  const decimal = file.separator === ',' ? '.' : ',';
  const reader = keyReader(known, match);
  for await (const some of file.rows()) {
    const rows = some.map(reader.read).filter((row) => row !== null);
    const header = reader.header();
    if (header !== null && rows.length > 0) yield await compareRows(tx, caller, header, rows, decimal);
  }
  if (reader.header() === null)
    throw refuse('csv-unreadable', { row: 1, reason: sentence('the file is empty') });
}
