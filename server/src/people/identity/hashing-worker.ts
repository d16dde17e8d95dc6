// A thread that only hashes passwords, at a lower priority: requests come first, and rendering does not starve
// sign-ins.
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { verifySync as verifyArgon2 } from '@node-rs/argon2';
import { hashSync, verifySync } from '@node-rs/bcrypt';
import type { HashingAnswer, HashingTask } from './hashing.ts';

const NICE = 1;

try {
  // Linux sets the priority of this thread only; elsewhere it would be the whole process, so it is left unchanged.
  if (process.platform === 'linux') setPriority(NICE);
} catch {
  // Not permitted; hashing then has the normal priority.
}

function isHashOf(digest: string, hash: string): boolean {
  return hash.startsWith('$argon2') ? verifyArgon2(hash, digest) : verifySync(digest, hash);
}

function carryOut(task: HashingTask): HashingAnswer {
  try {
    return task.kind === 'hash'
      ? { kind: 'hashed', hash: hashSync(task.digest, { cost: task.cost }) }
      : { kind: 'verified', matches: isHashOf(task.digest, task.hash) };
  } catch (error) {
    return { kind: 'failed', message: String(error) };
  }
}

parentPort?.on('message', (task: HashingTask) => parentPort?.postMessage(carryOut(task)));
