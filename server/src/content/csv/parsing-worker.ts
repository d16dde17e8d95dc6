// A thread that only parses files of comma-separated values, which would block the service for seconds. It has a lower
// priority than requests.
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Refusal } from '../../platform/http/refuse.ts';
import { parseFile } from './parse-file.ts';
import type { ParsingAnswer, ParsingInput } from './read.ts';

const NICE = 1;

try {
  // Linux sets the priority of this thread only; elsewhere it would be the whole process, so it is left unchanged.
  if (process.platform === 'linux') setPriority(NICE);
} catch {
  // Not permitted; parsing then has the normal priority.
}

/** Yields the separator, and then the rows of the file. */
async function* answers(): AsyncIterable<ParsingAnswer> {
  // `read.ts` starts this thread with it.
  const { path, mostRows } = workerData as ParsingInput;
  try {
    const file = await parseFile(path, mostRows);
    yield { kind: 'opened', separator: file.separator };
    for await (const rows of file.rows()) yield { kind: 'rows', rows };
    yield { kind: 'end' };
  } catch (error) {
    if (error instanceof Refusal) yield { kind: 'refused', code: error.code, params: error.sentence.values };
    else yield { kind: 'failed', message: String(error) };
  }
}

const answering = answers()[Symbol.asyncIterator]();
// One answer for each message, so that no more is read than is used.
parentPort?.on('message', async () => {
  const { value, done } = await answering.next();
  if (done !== true) parentPort?.postMessage(value);
});
