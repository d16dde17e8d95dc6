// One thread that does nothing but hash passwords, at a lower priority: requests go first, and sign-ins do not starve
// beside rendering either.
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/bcrypt';
import type { HashingAnswer, HashingTask } from './hashing.ts';

const NICE = 1;

try {
  // Of this thread alone, on Linux; elsewhere the whole process would be meant, so it is left as it is.
  if (process.platform === 'linux') setPriority(NICE);
} catch {
  // Not allowed here; hashing is then as important as the rest.
}

function carryOut(task: HashingTask): HashingAnswer {
  try {
    return task.kind === 'hash'
      ? { kind: 'hashed', hash: hashSync(task.digest, { cost: task.cost }) }
      : { kind: 'verified', matches: verifySync(task.digest, task.hash) };
  } catch (error) {
    return { kind: 'failed', message: String(error) };
  }
}

parentPort?.on('message', (task: HashingTask) => parentPort?.postMessage(carryOut(task)));
