// The main module of a decoder process. It runs one task at a time and answers over IPC. The parent enforces the
// limits.
import type { Answer, Order } from './process.ts';
import { performTask } from './tasks.ts';

/** How often a task reports its progress at most. The first report of a task is sent immediately. */
const REPORT_EVERY_MS = 500;

function send(answer: Answer): void {
  process.send?.(answer);
}

/** Keeps the error code, which distinguishes a full disk from a bad file. */
function describeError(error: unknown): Answer {
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
    send({ kind: 'done', output: await performTask(task, input, report) });
  } catch (error) {
    send(describeError(error));
  }
});
send({ kind: 'ready' });
