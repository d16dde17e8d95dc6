import { setTimeout as wait } from 'node:timers/promises';
import type { DecoderTask, DecoderTasks } from '../tasks.ts';
import { type Confinement, type ConfinementOptions, openConfinement } from './confinement.ts';
import { openFairQueue } from './fair-queue.ts';
import { type Guard, openGuard } from './guard.ts';
import { type DecoderKind, type DecoderLimits, decoderKinds } from './kinds.ts';
import { DecoderLost, type DecoderProcess, type RunOptions, startDecoder } from './process.ts';

/** An idle process ends after this time and frees its memory. */
const IDLE_MS = 60_000;

/** Processes that decode untrusted bytes. The first file starts the first process. */
export interface Decoders {
  /**
   * Runs one task in a process of this kind when it is the owner's turn. Rejects with DecodingStopped if the file
   * reached a limit, with DecoderLost if the process ended for another reason or the decoders are closed, and
   * otherwise with the task's error. Options are those of DecoderProcess.
   */
  run<T extends DecoderTask>(
    kind: DecoderKind,
    owner: string,
    task: T,
    input: DecoderTasks[T]['input'],
    options?: RunOptions,
  ): Promise<DecoderTasks[T]['output']>;
  /** Returns the limits of decoders, for other programs that read untrusted files. */
  confine(): Promise<Confinement>;
  /** Returns the ids of the running processes, of one kind or of all. */
  pids(kind?: DecoderKind): number[];
  /** Refuses new tasks, waits up to `graceMs` for running ones, and kills the processes that remain. */
  close(graceMs?: number): Promise<void>;
}

export interface DecoderOptions {
  /** Overrides of the limits in `kinds.ts`. */
  limits?: { [K in DecoderKind]?: Partial<DecoderLimits> };
  idleMs?: number;
  /** The FFmpeg to use, as in the setting VITRINE_FFMPEG. */
  ffmpeg?: string | null;
  /** The LibreOffice to use, as in the setting VITRINE_LIBREOFFICE. */
  libreoffice?: string | null;
  /** The Ghostscript to use, as in the setting VITRINE_GHOSTSCRIPT. */
  ghostscript?: string | null;
  /** Where decoders get their files, and what they must not see. */
  confinement?: ConfinementOptions;
}

const closed = () => new DecoderLost('the decoders are closed');

type PoolOptions = Required<Pick<DecoderOptions, 'idleMs' | 'ffmpeg' | 'libreoffice' | 'ghostscript'>> & {
  confine(): Promise<Confinement>;
};

interface Pool {
  run: (owner: string, work: (process: DecoderProcess) => Promise<unknown>) => Promise<unknown>;
  pids(): number[];
  close(graceMs: number): Promise<void>;
}

function openPool(limits: DecoderLimits, guard: Guard, { idleMs, confine, ...programs }: PoolOptions): Pool {
  const queue = openFairQueue(limits);
  const idle = new Map<DecoderProcess, NodeJS.Timeout>();
  const busy = new Set<DecoderProcess>();
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;

  const takeProcess = async (): Promise<DecoderProcess> => {
    for (const [process, timer] of idle) {
      clearTimeout(timer);
      idle.delete(process);
      if (process.isAlive()) return process;
      await process.kill();
    }
    return startDecoder(limits, guard, programs, await confine());
  };
  const putBack = (process: DecoderProcess) => {
    // Memory left over from one file would count against the limit of the next.
    if (isClosed || !process.isAlive() || process.memory() > limits.memoryBytes / 4) {
      void process.kill();
      return;
    }
    const end = () => {
      idle.delete(process);
      void process.kill();
    };
    idle.set(process, setTimeout(end, idleMs).unref());
  };
  const runInTurn = async (owner: string, work: (process: DecoderProcess) => Promise<unknown>) => {
    const giveBack = await queue.take(owner);
    try {
      if (isClosed) throw closed();
      const process = await takeProcess();
      if (isClosed) {
        await process.kill();
        throw closed();
      }
      busy.add(process);
      try {
        return await work(process);
      } finally {
        busy.delete(process);
        putBack(process);
      }
    } finally {
      giveBack();
    }
  };

  return {
    run: async (owner, work) => {
      if (isClosed) throw closed();
      const running = runInTurn(owner, work);
      underWay.add(running);
      try {
        return await running;
      } finally {
        underWay.delete(running);
      }
    },
    pids: () => [...idle.keys(), ...busy].filter((process) => process.isAlive()).map(({ pid }) => pid),
    async close(graceMs) {
      isClosed = true;
      const finished = Promise.allSettled(underWay);
      await Promise.race([finished, wait(graceMs, null, { ref: false })]);
      for (const timer of idle.values()) clearTimeout(timer);
      await Promise.all([...idle.keys(), ...busy].map((process) => process.kill()));
      idle.clear();
      await finished;
    },
  };
}

/** Opens the limits of decoders with the first file, and again if the process that keeps them has ended. */
function keepConfinement(options: ConfinementOptions): {
  confine(): Promise<Confinement>;
  close(): Promise<void>;
} {
  let opened: Promise<Confinement> | null = null;
  const confine = async (): Promise<Confinement> => {
    opened ??= openConfinement(options);
    const current = opened;
    const confinement = await current.catch((error: unknown) => {
      opened = null;
      throw error;
    });
    if (confinement.isUsable()) return confinement;
    if (opened === current) opened = null;
    return confine();
  };
  return {
    confine,
    async close() {
      (await opened?.catch(() => null))?.close();
    },
  };
}

/** Opens a pool of processes for each kind of decoder. Starts no process. */
export function openDecoders({
  limits = {},
  idleMs = IDLE_MS,
  ffmpeg = null,
  libreoffice = null,
  ghostscript = null,
  confinement = {},
}: DecoderOptions = {}): Decoders {
  const guard = openGuard();
  const { confine, close: closeConfinement } = keepConfinement(confinement);
  const options = { idleMs, ffmpeg, libreoffice, ghostscript, confine };
  const pools = {
    picture: openPool({ ...decoderKinds.picture, ...limits.picture }, guard, options),
    drawing: openPool({ ...decoderKinds.drawing, ...limits.drawing }, guard, options),
    document: openPool({ ...decoderKinds.document, ...limits.document }, guard, options),
    video: openPool({ ...decoderKinds.video, ...limits.video }, guard, options),
    transcode: openPool({ ...decoderKinds.transcode, ...limits.transcode }, guard, options),
    tiles: openPool({ ...decoderKinds.tiles, ...limits.tiles }, guard, options),
    query: openPool({ ...decoderKinds.query, ...limits.query }, guard, options),
    watermark: openPool({ ...decoderKinds.watermark, ...limits.watermark }, guard, options),
    flatten: openPool({ ...decoderKinds.flatten, ...limits.flatten }, guard, options),
    sheet: openPool({ ...decoderKinds.sheet, ...limits.sheet }, guard, options),
    convert: openPool({ ...decoderKinds.convert, ...limits.convert }, guard, options),
    metadata: openPool({ ...decoderKinds.metadata, ...limits.metadata }, guard, options),
  } satisfies Record<DecoderKind, Pool>;
  return {
    async run(kind, owner, task, input, options) {
      const output = await pools[kind].run(owner, (process) => process.run(task, input, options));
      // The cast is safe: `process.run` above returned the output of this task.
      return output as DecoderTasks[typeof task]['output'];
    },
    confine,
    pids: (kind) =>
      (kind === undefined ? Object.values(pools) : [pools[kind]]).flatMap((pool) => pool.pids()),
    async close(graceMs = 0) {
      await Promise.all(Object.values(pools).map((pool) => pool.close(graceMs)));
      guard.close();
      await closeConfinement();
    },
  };
}
