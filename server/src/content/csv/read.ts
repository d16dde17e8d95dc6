import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { mostCsvRows } from '@vitrine/contract/asset-csv';
import type { ErrorCode } from '@vitrine/contract/errors/codes';
import pLimit from 'p-limit';
import { Refusal, refuse } from '../../platform/http/refuse.ts';
import { programFile } from '../../platform/installation.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { readAhead } from '../../platform/read-ahead.ts';
import type { CsvRow, ParsedFile } from './parse-file.ts';

export interface ParsingInput {
  readonly path: string;
  readonly mostRows: number;
}

export type ParsingAnswer =
  | { readonly kind: 'opened'; readonly separator: string }
  | { readonly kind: 'rows'; readonly rows: readonly CsvRow[] }
  | { readonly kind: 'end' }
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly params: Sentence['values'];
    }
  | { readonly kind: 'failed'; readonly message: string };

/** Files that are parsed at a time, each in a thread with this heap, of which new objects have a small part. */
const AT_ONCE = 2;
const HEAP_MEGABYTES = 192;
const YOUNG_MEGABYTES = 6;

const inTurn = pLimit(AT_ONCE);

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Returns the next answer of the thread. Throws what it refuses. */
async function nextOf(worker: Worker): Promise<ParsingAnswer> {
  const answered = once(worker, 'message');
  worker.postMessage('next');
  const [answer]: ParsingAnswer[] = await answered.catch((error: unknown) => {
    if (!isOutOfMemory(error)) throw error;
    throw refuse('csv-unreadable', { row: 1, reason: sentence('the file needs too much memory') });
  });
  if (answer === undefined) throw new Error('the thread that parses a file has no answer');
  if (answer.kind === 'refused') throw new Refusal(answer.code, answer.params);
  if (answer.kind === 'failed') throw new Error(`a file could not be parsed: ${answer.message}`);
  return answer;
}

async function* rowsOf(worker: Worker): AsyncIterable<readonly CsvRow[]> {
  for (;;) {
    const answer = await nextOf(worker);
    if (answer.kind !== 'rows') return;
    yield answer.rows;
  }
}

/**
 * Parses a file in a thread of its own, in any usual encoding and as spreadsheets write it (CSV-6), while `use` reads its
 * rows. Throws a 422 or 413 for a file that cannot be taken.
 */
export function withCsvFile<T>(
  path: string,
  use: (file: ParsedFile) => Promise<T>,
  mostRows: number = mostCsvRows,
): Promise<T> {
  return inTurn(async () => {
    const worker = new Worker(programFile('content/csv/parsing-worker.ts'), {
      workerData: { path, mostRows } satisfies ParsingInput,
      resourceLimits: {
        maxOldGenerationSizeMb: HEAP_MEGABYTES,
        maxYoungGenerationSizeMb: YOUNG_MEGABYTES,
      },
    });
    try {
      const opened = await nextOf(worker);
      if (opened.kind !== 'opened') throw new Error('a file was not opened');
      return await use({ separator: opened.separator, rows: () => readAhead(rowsOf(worker)) });
    } finally {
      await worker.terminate();
    }
  });
}
