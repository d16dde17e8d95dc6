import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { decoderKinds } from '../../src/media/decoding/kinds.ts';
import { usageOfTree } from '../../src/media/decoding/usage.ts';

const ASKED_EVERY_MS = 100;
/** Short, because decoders allocate and free memory quickly. */
const MEASURED_EVERY_MS = 20;
/** A process on a busy machine has four times its time limit; the rest is for the queue. */
const PATIENCE = 4;
const SLACK_MS = 30_000;
/** Memory is measured at intervals, and grows between two of them. */
const OVERSHOOT = 1.5;

const mostMemory = Math.max(...Object.values(decoderKinds).map(({ memoryBytes }) => memoryBytes));

/** Returns a file of /proc, or an empty text when the process has ended. */
function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the children that any thread of a process started. */
export function childrenOf(pid: number): number[] {
  return readProc(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

/** Returns the decoder processes of a service. */
function decodersOf(service: number): number[] {
  return childrenOf(service).filter((pid) => /decoding.child\.[jt]s/.test(readProc(`/proc/${pid}/cmdline`)));
}

/** A job that decodes a file, while it runs. */
interface Running {
  id: string;
  task: string;
  hash: string;
  milliseconds: number;
  most: number;
  error: string | null;
}

/** Observations of the work on some files. */
interface Seen {
  /** The most memory of all programs of one decoder, in bytes. */
  peakBytes: number;
  /** The longest of the jobs, and the hash of its file. */
  slowest: { milliseconds: number; task: string; hash: string };
}

/** Watches the jobs and decoders of a service from outside. */
export interface Observer {
  /** Resolves when every job about these files has ended; rejects with `stuck` when that takes longer. */
  untilDone(hashes: ReadonlySet<string>, withinMs: number): Promise<Seen>;
  /** Returns faults of idle decoders. */
  idleFaults(): Promise<string[]>;
  /** All decoders observed. */
  pids(): ReadonlySet<number>;
}

const running = `
  select j.id::text, t.identifier as task, j.payload ->> 'hash' as hash, j.last_error as error,
    coalesce(extract(epoch from clock_timestamp() - j.locked_at) * 1000, 0)::float8 as milliseconds,
    (select key from jsonb_object_keys(coalesce(j.flags, '{}')) key where key ~ '^decode:[a-z]+$') as flag
  from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
  where j.payload ->> 'hash' is not null`;

/** Opens an observer of a service with this process id and database. Reports faults to `onFault`. */
export function openObserver(
  { pid, db }: { pid: number; db: pg.Client },
  onFault: (fault: string) => void,
): Observer {
  const pids = new Set<number>();

  function measure(): number {
    let peak = 0;
    for (const decoder of decodersOf(pid)) {
      pids.add(decoder);
      const memory = usageOfTree(decoder)?.memoryBytes ?? 0;
      peak = Math.max(peak, memory);
      if (memory > mostMemory * OVERSHOOT) onFault(`a decoder holds ${Math.round(memory / 1024 ** 2)} MB`);
    }
    return peak;
  }

  async function jobs(): Promise<Running[]> {
    const { rows } = await db.query<Omit<Running, 'most'> & { flag: string | null }>(running);
    return rows.map(({ flag, ...job }) => {
      const kind = Object.entries(decoderKinds).find(([name]) => flag === `decode:${name}`)?.[1];
      return { ...job, most: (kind?.timeoutMs ?? 60_000) * PATIENCE + SLACK_MS };
    });
  }

  return {
    pids: () => pids,
    async untilDone(hashes, withinMs) {
      const seen: Seen = { peakBytes: 0, slowest: { milliseconds: 0, task: '', hash: '' } };
      const until = performance.now() + withinMs;
      for (;;) {
        for (const next = performance.now() + ASKED_EVERY_MS; performance.now() < next; ) {
          seen.peakBytes = Math.max(seen.peakBytes, measure());
          await sleep(MEASURED_EVERY_MS);
        }
        const left = (await jobs()).filter(({ hash }) => hashes.has(hash));
        for (const { id, task, hash, milliseconds, most, error } of left) {
          if (milliseconds > seen.slowest.milliseconds) seen.slowest = { milliseconds, task, hash };
          if (milliseconds > most) onFault(`the job ${task} of ${hash} outlives its limit`);
          if (error === null) continue;
          // No file may cause an error of the machine. The job would be retried minutes later.
          onFault(`the job ${task} of ${hash} failed: ${error.split('\n')[0]}`);
          await db.query('select graphile_worker.complete_jobs($1)', [[id]]);
        }
        if (left.length === 0) return seen;
        if (performance.now() > until) {
          throw new Error(`stuck: ${left.map(({ task, hash }) => `${task} of ${hash}`).join(', ')}`);
        }
      }
    },
    async idleFaults() {
      const before = decodersOf(pid).map((decoder) => [decoder, usageOfTree(decoder)?.processorMs] as const);
      await sleep(1000);
      return before.flatMap(([decoder, processorMs]) => {
        const now = usageOfTree(decoder);
        if (now === null) return [];
        const programs = childrenOf(decoder);
        return [
          ...(now.processorMs - (processorMs ?? 0) > 300 ? [`the decoder ${decoder} works on nothing`] : []),
          ...(programs.length > 0 ? [`the decoder ${decoder} has left programs running`] : []),
        ];
      });
    },
  };
}
