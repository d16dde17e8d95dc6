import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation } from '@vitrine/contract/operation';
import type { Caller } from '../access/caller.ts';
import {
  READ_WITHIN_MS,
  type Replica,
  type ReplicaState,
  recordLastWrite,
} from '../platform/database/replica.ts';
import { DatabaseUnavailable } from '../platform/database/unavailable.ts';
import { Refusal } from '../platform/http/refuse.ts';
import { sentence } from '../platform/language/sentence.ts';
import type { Deps } from './deps.ts';

/** Which server answered a read; `repeated`: the primary, after a failure of the replica. */
export const readServers = ['replica', 'primary', 'repeated'] as const;
type ReadServer = (typeof readServers)[number];

/** Decides which server answers a read, and records writes, so that callers read their own. */
export interface ReplicaReads {
  /**
   * Runs a read on the replica if it has replayed `lastWrite`, otherwise on the primary. Runs it once more on the
   * primary when the replica fails (REPLICA-4). `undefined`: only the primary may serve it.
   */
  read<T>(
    operation: Operation,
    lastWrite: string | null | undefined,
    run: (deps: Deps) => Promise<T>,
  ): Promise<T>;
  /** Records a successful write before it is answered (REPLICA-2). */
  recordWrite(operation: Operation, caller: Caller): Promise<void>;
  state(): ReplicaState;
  /** Called for each read; null: reads are not counted. */
  observe: ((server: ReadServer) => void) | null;
}

/** Returns the accounts that must see this write immediately; null for everyone. */
function seenBy({ seenBy: whose }: Operation, caller: Caller): number[] | null {
  if (whose !== 'caller' || caller.kind === 'anonymous') return null;
  return caller.impersonator === null ? [caller.ref] : [caller.ref, caller.impersonator.ref];
}

/** Rejects when the work takes longer than a read may take on the replica. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = sleep(READ_WITHIN_MS, null, { signal: done.signal }).then(() => {
    throw new DatabaseUnavailable(sentence('the replica takes too long'));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
    // The one that lost the race may still fail.
    for (const lost of [work, late]) lost.catch(() => {});
  }
}

export function openReplicaReads(deps: Deps, replica: Replica): ReplicaReads {
  const onReplica: Deps = {
    ...deps,
    db: replica.db,
    get ladder() {
      return deps.ladder;
    },
  };
  const reads: ReplicaReads = {
    observe: null,
    state: replica.state,
    async read(operation, lastWrite, run) {
      if (lastWrite === undefined || !replica.hasReplayed(lastWrite)) {
        reads.observe?.('primary');
        return run(deps);
      }
      try {
        const answer = await inTime(run(onReplica));
        reads.observe?.('replica');
        return answer;
      } catch (error) {
        if (error instanceof Refusal) {
          reads.observe?.('replica');
          throw error;
        }
        replica.suspect();
        const level = error instanceof DatabaseUnavailable ? 'debug' : 'warn';
        deps.log[level]({ err: error, operation: operation.id }, 'a read failed on the replica');
        reads.observe?.('repeated');
        return run(deps);
      }
    },
    async recordWrite(operation, caller) {
      try {
        await recordLastWrite(deps.db, seenBy(operation, caller));
      } catch (error) {
        // The write itself has succeeded. Without its primary, the replica is not used either.
        replica.suspect();
        deps.log.warn(
          { err: error, operation: operation.id },
          'a write could not be recorded for the replica',
        );
      }
    },
  };
  return reads;
}
