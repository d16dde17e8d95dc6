import { type ChildProcess, spawn } from 'node:child_process';
import { getPriority, setPriority } from 'node:os';
import { programFile } from '../../platform/installation.ts';
import { type Sentence, SentenceError, sentence, verbatim } from '../../platform/language/sentence.ts';
import type { DecoderTask, DecoderTasks } from '../tasks.ts';
import { type Cell, ForeignPath } from './cell.ts';
import type { Confinement } from './confinement.ts';
import type { Guard } from './guard.ts';
import type { DecoderLimits } from './kinds.ts';
import { usageOfTree } from './usage.ts';

/** The message to a decoder process. */
export interface Order {
  task: DecoderTask;
  // `run` pairs the input with its task; IPC is untyped.
  input: never;
}

/** The messages from a decoder process. */
export type Answer =
  | { kind: 'ready' }
  | { kind: 'progress'; part: number }
  | { kind: 'done'; output: unknown; isLast?: true }
  | { kind: 'failed'; message: string; code?: string; syscall?: string; isLast?: true };

/**
 * The file exceeded a limit or crashed the process, and a retry would too. The message is one clause about the file,
 * such as "took longer than 20 s".
 */
export class DecodingStopped extends SentenceError {
  readonly limit: 'time' | 'memory' | 'crash';
  constructor(limit: 'time' | 'memory' | 'crash', said: Sentence) {
    super(said);
    this.limit = limit;
  }
}

/** The process ended for a reason unrelated to the file; a retry may succeed. */
export class DecoderLost extends Error {}

/** Interval at which time and memory are measured while a file is decoded. */
const MEASURE_EVERY_MS = 50;
/** With less, V8 may end the process before its memory is measured. */
const LEAST_HEAP_MB = 32;
/**
 * The part of its memory that a process may fill before V8 looks for garbage in the old generation. With V8's own limit it does so every
 * five pictures, whose pixels are outside its heap, which takes a tenth of the processor time.
 */
const FIRST_HEAP_PART = 16;
/** V8 crashes on start if its initial old generation is 3 MB. */
const LEAST_FIRST_HEAP_MB = 16;
/**
 * Factor on the time limit of a process that received less than half a core, because a busy machine is not the file's
 * fault.
 */
const MOST_PATIENCE = 4;
/** The nightly sweep removes what has not changed for a day. */
const TOUCH_EVERY_MS = 10 * 60_000;
/** Maximum time to start a process on a busy machine. */
const START_MS = 30_000;
/** Lower priority than requests and the database. */
const NICENESS = 5;
/** Number of characters of output kept to explain a crash. */
const MOST_OUTPUT = 2000;

/** Signals that indicate a crash of the decoder itself. Any other signal came from outside. */
const crashes = new Set<NodeJS.Signals>([
  'SIGSEGV',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGTRAP',
  'SIGSYS',
]);

/** Messages of decoders when an allocation fails because it exceeds the data segment limit. */
const outOfMemory = /out of memory|unable to allocate/i;

function neededMore(bytes: number): Sentence {
  const megabytes = String(Math.round(bytes / 1024 ** 2));
  return sentence('needed more than {megabytes} MB of memory', { megabytes });
}

/** System programs as in the settings: a path, `off`, or null for the program on PATH. */
export interface Programs {
  ffmpeg: string | null;
  libreoffice: string | null;
  ghostscript: string | null;
}

/** Passes on only the variables that decoders and the font library need, because the environment contains secrets. */
function environment({ ffmpeg, libreoffice, ghostscript }: Programs, home: string | null): NodeJS.ProcessEnv {
  const places = home === null ? ['HOME', 'TMPDIR'] : [];
  const passed = ['PATH', ...places, 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'FONTCONFIG_FILE'];
  const ours = passed.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // Limits malloc to two arenas. With the default of eight per core, the C library keeps several times the memory it
  // needs.
  const named = {
    ...(ffmpeg === null ? {} : { FFMPEG_PROGRAM: ffmpeg }),
    ...(libreoffice === null ? {} : { LIBREOFFICE_PROGRAM: libreoffice }),
    ...(ghostscript === null ? {} : { GHOSTSCRIPT_PROGRAM: ghostscript }),
  };
  const own = home === null ? {} : { HOME: home, TMPDIR: home };
  return { ...Object.fromEntries(ours), ...own, ...named, LANG: 'C.UTF-8', TZ: 'UTC', MALLOC_ARENA_MAX: '2' };
}

/**
 * Sets limits and replaces the shell with the decoder. Under memory pressure the kernel kills decoders first. The
 * data segment limit is far above the measured limit; it stops allocations between two measurements.
 */
const script = `
  echo 1000 2>/dev/null >/proc/self/oom_score_adj
  ulimit -c 0
  ulimit -d "$1" 2>/dev/null
  shift
  exec "$0" "$@"`;

function launch(
  { memoryBytes, niceness = NICENESS }: DecoderLimits,
  programs: Programs,
  confinement: Confinement,
  { home }: Cell,
): ChildProcess {
  const dataKilobytes = Math.ceil((memoryBytes * 2) / 1024) + 1024 ** 2;
  const heapMegabytes = Math.max(LEAST_HEAP_MB, Math.ceil(memoryBytes / 1024 ** 2));
  const firstMegabytes = Math.max(LEAST_FIRST_HEAP_MB, Math.ceil(heapMegabytes / FIRST_HEAP_PART));
  const flags = [`--max-old-space-size=${heapMegabytes}`, `--initial-old-space-size=${firstMegabytes}`];
  const node = [...flags, programFile('media/decoding/child.ts')];
  const shell = ['-c', script, process.execPath, String(dataKilobytes), ...node];
  const { command, args, identity } = confinement.launch('/bin/sh', shell);
  const child = spawn(command, args, {
    ...identity,
    env: environment(programs, home),
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Starts a separate session and process group, which can be killed as a whole.
    detached: true,
  });
  if (child.pid !== undefined) {
    try {
      setPriority(child.pid, Math.max(getPriority(), niceness));
    } catch {
      // The process has already ended; its exit event gives the reason.
    }
  }
  return child;
}

export interface RunOptions {
  /** Overrides the time limit of the kind of decoder, in milliseconds. */
  timeoutMs?: number;
  /** Receives progress from 0 to 1. */
  onProgress?: (part: number) => void;
}

/** A process that decodes one file at a time. */
export interface DecoderProcess {
  readonly pid: number;
  /**
   * Rejects with DecodingStopped if the file reached a limit, with DecoderLost if the process ended for another
   * reason, and otherwise with the task's error. After one of the first two, no part of the process remains.
   */
  run<T extends DecoderTask>(
    task: T,
    input: DecoderTasks[T]['input'],
    options?: RunOptions,
  ): Promise<DecoderTasks[T]['output']>;
  isAlive(): boolean;
  /** Returns the memory in use, in bytes. */
  memory(): number;
  /** Kills the process group and resolves when the process has ended. */
  kill(): Promise<void>;
}

/** Starts a decoder process that uses these programs. Rejects with DecoderLost if it does not start in time. */
export async function startDecoder(
  limits: DecoderLimits,
  guard: Guard,
  programs: Programs,
  confinement: Confinement,
): Promise<DecoderProcess> {
  const cell = confinement.openCell();
  const child = launch(limits, programs, confinement, cell);
  const pid = child.pid ?? 0;
  if (pid !== 0) guard.watch(pid, cell.place);
  let output = '';
  let ended: { code: number | null; signal: NodeJS.Signals | null; error?: Error } | null = null;
  const killGroup = () => {
    if (pid === 0 || ended !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group no longer exists.
    }
  };
  const exited = new Promise<void>((resolve) => {
    const end = (end: NonNullable<typeof ended>) => {
      // Kills programs that the decoder started and that may have outlived it.
      killGroup();
      ended ??= end;
      guard.forget(pid);
      resolve();
    };
    child.once('exit', (code, signal) => end({ code, signal }));
    // Without a pid the process never started. Otherwise a message could not be sent, and the exit event follows.
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
  // An idle process and its pipes must not keep the service running.
  const setReferenced = (referenced: boolean) => {
    for (const handle of [child, child.channel, child.stderr]) {
      // The pipes of a child process are sockets, which their declared types omit.
      const held = handle as { ref?(): void; unref?(): void } | null | undefined;
      if (referenced) held?.ref?.();
      else held?.unref?.();
    }
  };

  /** Resolves to the next answer, or to null if the process ends first. */
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

  /** Runs a task on files that the decoder can reach. */
  const perform = async <T extends DecoderTask>(
    task: T,
    input: DecoderTasks[T]['input'],
    { timeoutMs = limits.timeoutMs, onProgress }: RunOptions,
  ): Promise<DecoderTasks[T]['output']> => {
    const { memoryBytes } = limits;
    let stopped: DecodingStopped | null = null;
    const stop = (reason: DecodingStopped) => {
      stopped ??= reason;
      killGroup();
    };
    const began = performance.now();
    const before = usageOfTree(pid);
    let touchedAt = began;
    const measure = () => {
      if (performance.now() - touchedAt > TOUCH_EVERY_MS) {
        touchedAt = performance.now();
        void cell.touch();
      }
      const usage = usageOfTree(pid);
      if (usage !== null && usage.memoryBytes > memoryBytes) {
        return stop(new DecodingStopped('memory', neededMore(memoryBytes)));
      }
      const elapsed = performance.now() - began;
      if (elapsed <= timeoutMs) return;
      const worked = usage === null || before === null ? timeoutMs : usage.processorMs - before.processorMs;
      if (worked >= timeoutMs / 2 || elapsed > timeoutMs * MOST_PATIENCE) {
        stop(
          new DecodingStopped(
            'time',
            sentence('took longer than {seconds} s', { seconds: String(timeoutMs / 1000) }),
          ),
        );
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
      // Reports a limit that was reached even if the answer arrived before the process ended.
      if (stopped !== null) {
        await exited;
        throw stopped;
      }
      if (answer !== null && 'isLast' in answer) {
        killGroup();
        await exited;
      }
      if (answer?.kind === 'done') {
        // The process runs our own code, and `tasks.ts` types the output of each task.
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
        throw new DecodingStopped('crash', sentence('crashed its decoder ({signal})', { signal }));
      }
      // Only a library ends its own process with a code; the system and operators use signals.
      if (ended?.code != null) {
        const code = String(ended.code);
        throw new DecodingStopped('crash', sentence('ended its decoder (code {code})', { code }));
      }
      throw lost();
    } finally {
      clearInterval(meter);
      child.off('message', listen);
      setReferenced(false);
    }
  };

  return {
    pid,
    isAlive: () => ended === null && child.connected,
    memory: () => usageOfTree(pid)?.memoryBytes ?? 0,
    async kill() {
      // Keeps this process running until the child has ended, even if nothing else does.
      if (ended === null) child.ref();
      killGroup();
      await exited;
    },
    async run(task, input, options = {}) {
      const handed = await cell.handOver(input);
      try {
        return await handed.takeBack(await perform(task, handed.input, options));
      } catch (error) {
        if (!(error instanceof ForeignPath)) throw error;
        killGroup();
        await exited;
        throw new DecodingStopped('crash', verbatim('made its decoder name a file that it has not made'));
      } finally {
        await handed.close();
      }
    },
  };
}
