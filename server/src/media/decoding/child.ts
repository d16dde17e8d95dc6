// The main module of a decoder process. It does one task at a time and answers over IPC. Its parent enforces the limits.
import type { Answer, Order } from './process.ts';
import { performTask } from './tasks.ts';

function send(answer: Answer): void {
  process.send?.(answer);
}

/** Errors keep their code, which tells a full disk from a bad file. */
function describeError(error: unknown): Answer {
  if (!(error instanceof Error)) return { kind: 'failed', message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const syscall = 'syscall' in error && typeof error.syscall === 'string' ? { syscall: error.syscall } : {};
  return { kind: 'failed', message: error.message, ...code, ...syscall };
}

process.on('message', async ({ task, input }: Order) => {
  try {
    send({ kind: 'done', output: await performTask(task, input) });
  } catch (error) {
    send(describeError(error));
  }
});
send({ kind: 'ready' });
