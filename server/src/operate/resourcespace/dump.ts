import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ConfigError } from '../../core/config.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { type Sentence, sentence, sentenceCount, WordedError } from '../../platform/language/sentence.ts';
import { readCreateTable, readInsertHead, type TableShape } from './dump-statements.ts';
import { scanRow, undoDoubleEncoding } from './dump-values.ts';
import type { SourceRows, Wanted } from './source.ts';

/** A row, or a statement other than an insert, beyond this is no dump of ResourceSpace. */
const LONGEST_PIECE = 256 * 1024 * 1024;

/** The longest head of an insert: the name of a table and of its columns. */
const LONGEST_HEAD = 64 * 1024;

/** How mysqldump and mariadb-dump end a dump: with a comment, and without comments by restoring the last variable. */
const endings = /-- Dump completed|SQL_NOTES=@OLD_SQL_NOTES \*\/;\s*$/;

const newline = 10;
const semicolon = 59;

/** Returns the end of a comment, behind it; null if it is not complete, -1 if there is none. */
function endOfComment(bytes: Buffer, at: number): number | null {
  const head = bytes.toString('latin1', at, at + 3);
  if (head.startsWith('/*') && !head.startsWith('/*!') && head !== '/*M') {
    const end = bytes.indexOf('*/', at + 2);
    return end === -1 ? null : end + 2;
  }
  if (!head.startsWith('--') && !head.startsWith('#')) return -1;
  const end = bytes.indexOf(newline, at);
  return end === -1 ? null : end + 1;
}

/** Returns the end of a statement, behind its semicolon, outside of quotes; null if it is not complete. */
function endOfStatement(bytes: Buffer, at: number): number | null {
  let inQuotes = 0;
  for (let here = at; here < bytes.length; here += 1) {
    const byte = bytes[here];
    if (inQuotes !== 0) {
      if (byte === 92 && inQuotes !== 96) here += 1;
      else if (byte === inQuotes) inQuotes = 0;
    } else if (byte === 39 || byte === 34 || byte === 96) inQuotes = byte;
    else if (byte === semicolon) return here + 1;
  }
  return null;
}

/** What the parser has read so far, for the message about a dump that ends too early. */
interface Progress {
  table: string | null;
  rows: number;
  isInside: boolean;
}

interface Parser {
  /** Takes the next bytes and returns the rows that they complete. */
  take(chunk: Buffer): SourceRows[];
  progress: Progress;
}

/** The table whose rows are being read. */
interface Current {
  table: string;
  /** Whether each of its columns is read. */
  isKept: readonly boolean[];
  /** The names of the columns that are read. */
  columns: readonly string[];
  isLatin1: boolean;
}

function createParser(wanted: Wanted): Parser {
  const shapes = new Map<string, TableShape>();
  const progress: Progress = { table: null, rows: 0, isInside: false };
  let rest: Buffer = Buffer.alloc(0);
  let current: Current | null = null;
  /** The text that ends statements, other than a semicolon around triggers. */
  let delimiter = ';';

  const beginInsert = (head: NonNullable<ReturnType<typeof readInsertHead>>): Current => {
    const shape = shapes.get(head.table);
    const columns = head.columns ?? shape?.columns;
    if (columns === undefined)
      throw new WordedError(sentence('rows of {table} come before its CREATE TABLE', { table: head.table }));
    const own = Object.hasOwn(wanted, head.table) ? wanted[head.table] : undefined;
    const isKept = columns.map((column) => own?.includes(column) === true);
    return {
      table: head.table,
      isKept,
      columns: columns.filter((_, at) => isKept[at]),
      isLatin1: shape?.isLatin1 === true,
    };
  };

  /** Reads rows from `at`. Returns the position behind the last complete one. */
  const readRows = (
    bytes: Buffer,
    at: number,
    { table, isKept, columns, isLatin1 }: Current,
    into: SourceRows[],
  ): number => {
    const rows: (string | null)[][] = [];
    const isWanted = columns.length > 0;
    let here = at;
    for (;;) {
      const scanned = scanRow(bytes, here, isKept);
      if (scanned === null) break;
      const { kept, length } = scanned.value;
      if (length !== isKept.length) {
        throw new WordedError(
          sentence('a row of {table} has {values} values where the table has {columns} columns', {
            table,
            values: length,
            columns: isKept.length,
          }),
        );
      }
      let after = scanned.end;
      while (after < bytes.length && (bytes[after] ?? 0) <= 32) after += 1;
      if (after >= bytes.length) break;
      if (isWanted) {
        rows.push(isLatin1 ? kept.map((value) => (value === null ? null : undoDoubleEncoding(value))) : kept);
      }
      progress.rows += 1;
      here = after + 1;
      if (bytes[after] === semicolon) {
        current = null;
        progress.isInside = false;
        break;
      }
    }
    if (rows.length > 0) into.push({ table, columns, rows });
    return here;
  };

  /** Reads what begins at `at` between inserts. Returns the position behind it, or null if it is not complete. */
  const readStatement = (bytes: Buffer, at: number): number | null => {
    const comment = endOfComment(bytes, at);
    if (comment !== -1) return comment;
    const head = bytes.toString('latin1', at, at + LONGEST_HEAD);
    const [changed, next] = /^delimiter[ \t]+(\S+)[^\n]*\n/i.exec(head) ?? [];
    if (changed !== undefined && next !== undefined) {
      delimiter = next;
      return at + changed.length;
    }
    if (delimiter !== ';') {
      const end = bytes.indexOf(delimiter, at);
      return end === -1 ? null : end + delimiter.length;
    }
    const insert = readInsertHead(head);
    if (insert !== null) {
      current = beginInsert(insert);
      Object.assign(progress, { table: insert.table, rows: 0, isInside: true });
      return at + insert.length;
    }
    const end = endOfStatement(bytes, at);
    if (end === null) return null;
    const shape = readCreateTable(bytes.toString('utf8', at, end));
    if (shape !== null) shapes.set(shape.name, shape);
    return end;
  };

  return {
    progress,
    take(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const found: SourceRows[] = [];
      let here = 0;
      for (;;) {
        if (current !== null) {
          here = readRows(bytes, here, current, found);
          if (current !== null) break;
        }
        while (here < bytes.length && (bytes[here] ?? 0) <= 32) here += 1;
        if (here >= bytes.length) break;
        const after = readStatement(bytes, here);
        if (after === null) break;
        here = after;
      }
      rest = Buffer.from(bytes.subarray(here));
      if (rest.length > LONGEST_PIECE) throw new WordedError(sentence('a statement is longer than 256 MiB'));
      return found;
    },
  };
}

async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path).catch(() => {
    throw new ConfigError(sentence('{path} cannot be read', { path }));
  });
  let isZipped: boolean;
  try {
    if (!(await file.stat()).isFile()) throw new ConfigError(sentence('{path} is not a file', { path }));
    const head = Buffer.alloc(2);
    await file.read(head, 0, 2, 0);
    isZipped = head.equals(Buffer.of(0x1f, 0x8b));
  } finally {
    await file.close();
  }
  const plain = createReadStream(path, { highWaterMark: 1024 * 1024 });
  // Every error reaches the loop through the last stream.
  const chunks: AsyncIterable<Buffer> = isZipped ? pipeline(plain, createGunzip(), () => {}) : plain;
  yield* chunks;
}

function whereCutOff({ table, rows, isInside }: Progress): Sentence {
  if (table === null) return sentence('it has no rows of any table');
  return isInside
    ? sentenceCount(
        rows,
        ['it ends inside the table {table}, after # row', 'it ends inside the table {table}, after # rows'],
        { table },
      )
    : sentence('it ends after the table {table}', { table });
}

/**
 * Streams the wanted columns of tables from a dump of MySQL or MariaDB, plain or compressed with gzip, in constant memory.
 * Throws a ConfigError for a dump without its end, which is only known once everything has been read.
 */
export async function* readDump(path: string, wanted: Wanted): AsyncGenerator<SourceRows> {
  const parser = createParser(wanted);
  let tail = '';
  try {
    for await (const chunk of bytesOf(path)) {
      tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 500))).slice(-1000);
      yield* parser.take(chunk);
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(
      sentence('{path} cannot be read as a dump: {reason} ({where})', {
        path,
        reason: sentenceOfError(error),
        where: whereCutOff(parser.progress),
      }),
    );
  }
  if (parser.progress.isInside || !endings.test(tail))
    throw new ConfigError(
      sentence('{path} is cut off: {where}; dump the database again', {
        path,
        where: whereCutOff(parser.progress),
      }),
    );
}
