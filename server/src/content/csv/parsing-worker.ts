// A thread that only parses files of comma-separated values, which would block the service for seconds. It has a lower
// priority than requests.
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Refusal } from '../../platform/http/refuse.ts';
import { type CsvRow, parseFile } from './parse-file.ts';
import type { ParsingAnswer, ParsingInput } from './read.ts';

const NICE = 1;
/** Rows, and characters of their cells, that a message has. */
const ROWS_AT_ONCE = 1000;
const CHARACTERS_AT_ONCE = 256 * 1024;

try {
  // Linux sets the priority of this thread only; elsewhere it would be the whole process, so it is left unchanged.
  if (process.platform === 'linux') setPriority(NICE);
} catch {
  // Not permitted; parsing then has the normal priority.
}

/** Gathers rows into messages of a bounded size. */
async function* gathered(rows: AsyncIterable<CsvRow>): AsyncIterable<CsvRow[]> {
  let some: CsvRow[] = [];
  let characters = 0;
  for await (const row of rows) {
    some.push(row);
    characters += row.cells.reduce((sum, cell) => sum + cell.length, 0);
    if (some.length < ROWS_AT_ONCE && characters < CHARACTERS_AT_ONCE) continue;
    yield some;
    some = [];
    characters = 0;
  }
  if (some.length > 0) yield some;
}

/** Yields the separator, and then the rows of the file. */
async function* answers(): AsyncIterable<ParsingAnswer> {
  // `read.ts` starts this thread with it.
  const { path, mostRows } = workerData as ParsingInput;
  try {
    const file = await parseFile(path, mostRows);
    yield { kind: 'opened', separator: file.separator };
    for await (const rows of gathered(file.rows())) yield { kind: 'rows', rows };
    yield { kind: 'end' };
  } catch (error) {
    if (error instanceof Refusal) yield { kind: 'refused', code: error.code, params: error.params };
    else yield { kind: 'failed', message: String(error) };
  }
}

const answering = answers()[Symbol.asyncIterator]();
// One answer for each message, so that no more is read than is used.
parentPort?.on('message', async () => {
  const { value, done } = await answering.next();
  if (done !== true) parentPort?.postMessage(value);
});
