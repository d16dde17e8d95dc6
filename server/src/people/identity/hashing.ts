import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { refuse } from '../../platform/http/refuse.ts';
import { programFile } from '../../platform/installation.ts';

export type HashingTask =
  | { kind: 'hash'; digest: string; cost: number }
  | { kind: 'verify'; digest: string; hash: string };

export type HashingAnswer =
  | { kind: 'hashed'; hash: string }
  | { kind: 'verified'; matches: boolean }
  | { kind: 'failed'; message: string };

/** How many passwords may wait: the last one would wait for minutes (RATE-10). */
const LONGEST_QUEUE = 1000;

/** bcrypt's cost of new hashes (SIGNIN-7): about 90 ms each. */
const COST = 11;

export interface Hashing {
  /** bcrypt's cost of new hashes. */
  cost: number;
  /** Returns the bcrypt hash of a digest. */
  hash(digest: string): Promise<string>;
  /** Returns whether this is the bcrypt or Argon2id hash of the digest. */
  verify(digest: string, hash: string): Promise<boolean>;
}

/**
 * Hashes passwords in worker threads, on all cores but one and at a lower priority than requests, so that a wave of
 * sign-ins does not slow other requests. Threads start with the first task and do not keep the process alive. Throws
 * 429 when the queue is full (RATE-10).
 */
export function openHashing(cost = COST, longestQueue = LONGEST_QUEUE): Hashing {
  const most = Math.max(1, availableParallelism() - 1);
  const limit = pLimit(most);
  const idle: Worker[] = [];

  const start = () => {
    const worker = new Worker(programFile('people/identity/hashing-worker.ts'));
    worker.unref();
    return worker;
  };
  const run = async (task: HashingTask): Promise<HashingAnswer> => {
    const worker = idle.pop() ?? start();
    worker.ref();
    const answered = once(worker, 'message');
    worker.postMessage(task);
    const [answer]: HashingAnswer[] = await answered;
    worker.unref();
    idle.push(worker);
    if (answer === undefined || answer.kind === 'failed') {
      throw new Error(`a password could not be hashed: ${answer?.message ?? 'no answer'}`);
    }
    return answer;
  };
  const inLine = (task: HashingTask): Promise<HashingAnswer> => {
    if (limit.pendingCount >= longestQueue) {
      throw refuse('too-many-sign-ins', {}, { 'retry-after': '30' });
    }
    return limit(() => run(task));
  };

  return {
    cost,
    async hash(digest) {
      const answer = await inLine({ kind: 'hash', digest, cost });
      if (answer.kind !== 'hashed') throw new Error('unexpected response to a hash task');
      return answer.hash;
    },
    async verify(digest, hash) {
      const answer = await inLine({ kind: 'verify', digest, hash });
      return answer.kind === 'verified' && answer.matches;
    },
  };
}
