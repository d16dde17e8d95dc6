// The main module of a decoder process. It runs one task at a time and answers over IPC. The parent enforces the
// limits.

import { performTask } from '../tasks.ts';
import type { Answer, Order } from './process.ts';
import { refusalOf } from './refusals.ts';

/** How often a task reports its progress at most. The first report of a task is sent immediately. */
const REPORT_EVERY_MS = 500;

function send(answer: Answer, sent?: () => void): void {
  process.send?.(answer, undefined, undefined, sent);
}

/** Fails the task that is running. */
let failTask: ((error: unknown) => void) | null = null;
/** After an error that no code caught, the state of the libraries is unknown. */
let isSpoilt = false;

/** Keeps the error code, which distinguishes a full disk from a bad file. */
function describeError(error: unknown): Answer & { kind: 'failed' } {
  if (!(error instanceof Error)) return { kind: 'failed', message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const syscall = 'syscall' in error && typeof error.syscall === 'string' ? { syscall: error.syscall } : {};
  return { kind: 'failed', message: error.message, ...code, ...syscall };
}

process.on('message', async ({ task, input }: Order) => {
  let reportedAt = Number.NEGATIVE_INFINITY;
  try {
    const report = (part: number) => {
      if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = performance.now();
      send({ kind: 'progress', part });
    };
    const failed = new Promise<never>((_, reject) => {
      failTask = reject;
    });
    const output = await Promise.race([performTask(task, input, report), failed]);
    send({ kind: 'done', output });
  } catch (error) {
    const output = refusalOf(task, error);
    const answer = output === null ? describeError(error) : ({ kind: 'done', output } as const);
    if (isSpoilt) send({ ...answer, isLast: true }, () => process.exit());
    else send(answer);
  } finally {
    failTask = null;
  }
});

// Libraries throw in callbacks of the file system, too, where no task can catch it.
process.on('uncaughtException', (error) => {
  if (failTask === null) throw error;
  isSpoilt = true;
  failTask(error);
});
send({ kind: 'ready' });
