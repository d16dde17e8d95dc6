import { type ChildProcess, spawn } from 'node:child_process';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import type { Guard } from './guard.ts';
import type { DecoderLimits } from './kinds.ts';
import type { DecoderTask, DecoderTasks } from './tasks.ts';
import { usageOfTree } from './usage.ts';

/** What a decoder process is sent. */
export interface Order {
  task: DecoderTask;
  // The input of this very task: `run` pairs them, and IPC carries no types.
  input: never;
}

/** What a decoder process sends. */
export type Answer =
  | { kind: 'ready' }
  | { kind: 'progress'; part: number }
  | { kind: 'done'; output: unknown }
  | { kind: 'failed'; message: string; code?: string; syscall?: string };

/**
 * A file was too much for its decoder, and would be again: it reached a limit or crashed the process. The message is one
 * clause about the file, such as "took longer than 20 s".
 */
export class DecodingStopped extends Error {
  readonly limit: 'time' | 'memory' | 'crash';
  constructor(limit: 'time' | 'memory' | 'crash', message: string) {
    super(message);
    this.limit = limit;
  }
}

/** The process ended for a reason that has nothing to do with the file; another try may succeed. */
export class DecoderLost extends Error {}

/** How often time and memory are measured while a file is decoded. */
const MEASURE_EVERY_MS = 50;
/** A process that was given less than half a core has this many times the limit: a busy machine is not the file's fault. */
const MOST_PATIENCE = 4;
/** Most time a process may take to start on a busy machine. */
const START_MS = 30_000;
/** Lower than requests and the database. */
const NICENESS = 5;
/** As much of the output as helps to explain a crash. */
const MOST_OUTPUT = 2000;

/** Signals by which a decoder's own fault ends it. Any other came from outside. */
const crashes = new Set<NodeJS.Signals>([
  'SIGSEGV',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGTRAP',
  'SIGSYS',
]);

/** What decoders say when an allocation fails, which is when it goes beyond the limit of the data segment. */
const outOfMemory = /out of memory|unable to allocate/i;

function neededMore(bytes: number): string {
  return `needed more than ${Math.round(bytes / 1024 ** 2)} MB of memory`;
}

/** Programs of the system as settings name them: a path, `off`, or null for the one on PATH. */
export interface Programs {
  ffmpeg: string | null;
  libreoffice: string | null;
  ghostscript: string | null;
}

/** Settings that decoders and the font library need. Nothing else of our environment is passed on: it holds secrets. */
function environment({ ffmpeg, libreoffice, ghostscript }: Programs): NodeJS.ProcessEnv {
  const passed = ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'FONTCONFIG_FILE'];
  const ours = passed.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // Two arenas rather than eight per core: without this the C library keeps several times the memory it needs.
  const named = {
    ...(ffmpeg === null ? {} : { FFMPEG_PROGRAM: ffmpeg }),
    ...(libreoffice === null ? {} : { LIBREOFFICE_PROGRAM: libreoffice }),
    ...(ghostscript === null ? {} : { GHOSTSCRIPT_PROGRAM: ghostscript }),
  };
  return { ...Object.fromEntries(ours), ...named, LANG: 'C.UTF-8', TZ: 'UTC', MALLOC_ARENA_MAX: '2' };
}

/**
 * Becomes the decoder. Under memory pressure the kernel takes a decoder first. The limit of the data segment lies far above
 * the one that is measured; it stops what grows between two measurements.
 */
const script = `
  echo 1000 2>/dev/null >/proc/self/oom_score_adj
  ulimit -c 0
  ulimit -d "$1" 2>/dev/null
  shift
  exec "$0" "$@"`;

function launch({ memoryBytes, niceness = NICENESS }: DecoderLimits, programs: Programs): ChildProcess {
  const dataKilobytes = Math.ceil((memoryBytes * 2) / 1024) + 1024 ** 2;
  const heapMegabytes = Math.ceil(memoryBytes / 1024 ** 2);
  const node = [`--max-old-space-size=${heapMegabytes}`, join(import.meta.dirname, 'child.ts')];
  const child = spawn('/bin/sh', ['-c', script, process.execPath, String(dataKilobytes), ...node], {
    env: environment(programs),
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // A session and process group of its own, which can be killed as a whole.
    detached: true,
  });
  if (child.pid !== undefined) {
    try {
      setPriority(child.pid, Math.max(getPriority(), niceness));
    } catch {
      // It has ended already; its exit says why.
    }
  }
  return child;
}

export interface RunOptions {
  /** Another time limit than that of the kind of decoder, in milliseconds. */
  timeoutMs?: number;
  /** Receives the progress from time to time, from 0 to 1. */
  onProgress?: (part: number) => void;
}

/** One process that decodes one file at a time. */
export interface DecoderProcess {
  readonly pid: number;
  /**
   * Rejects with DecodingStopped when the file reached a limit, DecoderLost when the process ended for another reason, and
   * the task's own error otherwise. When it has rejected with one of the first two, nothing of the process is left.
   */
  run<T extends DecoderTask>(
    task: T,
    input: DecoderTasks[T]['input'],
    options?: RunOptions,
  ): Promise<DecoderTasks[T]['output']>;
  isAlive(): boolean;
  /** Bytes of memory held at this moment. */
  memory(): number;
  /** Kills the whole process group and resolves when the process has ended. */
  kill(): Promise<void>;
}

/** Starts a decoder process that uses this FFmpeg. Rejects with DecoderLost when it does not come up. */
export async function startDecoder(
  limits: DecoderLimits,
  guard: Guard,
  programs: Programs,
): Promise<DecoderProcess> {
  const child = launch(limits, programs);
  const pid = child.pid ?? 0;
  if (pid !== 0) guard.watch(pid);
  let output = '';
  let ended: { code: number | null; signal: NodeJS.Signals | null; error?: Error } | null = null;
  const killGroup = () => {
    if (pid === 0 || ended !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Nothing is left of it.
    }
  };
  const exited = new Promise<void>((resolve) => {
    const end = (end: NonNullable<typeof ended>) => {
      // Programs that the decoder started may have outlived it.
      killGroup();
      ended ??= end;
      guard.forget(pid);
      resolve();
    };
    child.once('exit', (code, signal) => end({ code, signal }));
    // Without a pid there was never a process; otherwise this is a message that could not be sent, and the exit follows.
    child.on('error', (error) => child.pid === undefined && end({ code: null, signal: null, error }));
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    output = `${output}${chunk}`.slice(-MOST_OUTPUT);
  });
  const howItEnded = () => {
    const { signal = null, code = null, error } = ended ?? {};
    return error?.message ?? (signal === null ? `code ${code}` : signal);
  };
  const lost = () => new DecoderLost(`a decoder process ended with ${howItEnded()}: ${output.trim()}`);
  // Neither an idle process nor its pipes keep the service running.
  const setReferenced = (referenced: boolean) => {
    for (const handle of [child, child.channel, child.stderr]) {
      // The pipes of a child process are sockets, which the declared stream types do not say.
      const held = handle as { ref?(): void; unref?(): void } | null | undefined;
      if (referenced) held?.ref?.();
      else held?.unref?.();
    }
  };

  /** The next answer, or null when the process ends first. */
  const nextAnswer = async (): Promise<Answer | null> => {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const listen = (answer: Answer) => answer.kind !== 'progress' && resolve(answer);
    child.on('message', listen);
    try {
      return await Promise.race([promise, exited.then(() => null)]);
    } finally {
      child.off('message', listen);
    }
  };

  const slowStart = setTimeout(killGroup, START_MS);
  const first = await nextAnswer();
  clearTimeout(slowStart);
  if (first?.kind !== 'ready') {
    killGroup();
    await exited;
    throw lost();
  }
  setReferenced(false);

  return {
    pid,
    isAlive: () => ended === null && child.connected,
    memory: () => usageOfTree(pid)?.memoryBytes ?? 0,
    async kill() {
      // Nothing else may be left to keep us running until it has ended.
      if (ended === null) child.ref();
      killGroup();
      await exited;
    },
    async run(task, input, { timeoutMs = limits.timeoutMs, onProgress } = {}) {
      const { memoryBytes } = limits;
      let stopped: DecodingStopped | null = null;
      const stop = (reason: DecodingStopped) => {
        stopped ??= reason;
        killGroup();
      };
      const began = performance.now();
      const before = usageOfTree(pid);
      const measure = () => {
        const usage = usageOfTree(pid);
        if (usage !== null && usage.memoryBytes > memoryBytes) {
          return stop(new DecodingStopped('memory', neededMore(memoryBytes)));
        }
        const elapsed = performance.now() - began;
        if (elapsed <= timeoutMs) return;
        const worked = usage === null || before === null ? timeoutMs : usage.processorMs - before.processorMs;
        if (worked >= timeoutMs / 2 || elapsed > timeoutMs * MOST_PATIENCE) {
          stop(new DecodingStopped('time', `took longer than ${timeoutMs / 1000} s`));
        }
      };
      const meter = setInterval(measure, MEASURE_EVERY_MS);
      const listen = (answer: Answer) => answer.kind === 'progress' && onProgress?.(answer.part);
      child.on('message', listen);
      setReferenced(true);
      try {
        const answered = nextAnswer();
        child.send({ task, input }, () => {});
        measure();
        const answer = await answered;
        if (answer?.kind === 'done') {
          // The process runs our own code, and `tasks.ts` types what each task answers.
          return answer.output as DecoderTasks[typeof task]['output'];
        }
        if (answer?.kind === 'failed') {
          const { message, code, syscall } = answer;
          if (outOfMemory.test(message)) throw new DecodingStopped('memory', neededMore(memoryBytes));
          throw Object.assign(
            new Error(message),
            code === undefined ? {} : { code },
            syscall === undefined ? {} : { syscall },
          );
        }
        killGroup();
        await exited;
        if (stopped !== null) throw stopped;
        const signal = ended?.signal ?? null;
        if (signal !== null && crashes.has(signal)) {
          throw new DecodingStopped('crash', `crashed its decoder (${signal})`);
        }
        throw lost();
      } finally {
        clearInterval(meter);
        child.off('message', listen);
        setReferenced(false);
      }
    },
  };
}
