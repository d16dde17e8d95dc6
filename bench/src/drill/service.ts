import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { serverBin } from '../library.ts';

/** A process of Vitrine, started as in production. */
export interface VitrineProcess {
  child: ChildProcess;
  pid: number;
  /** The address it listens on; empty for a worker. */
  address: string;
  /** Resolves with the exit code or signal when the process has ended. */
  ended: Promise<string>;
  /** The exit code or signal, once the process has ended. */
  end(): string | null;
  /** The last lines of its output. */
  lastLines(): string;
  stop(): Promise<void>;
}

const STARTS_WITHIN_MS = 120_000;
const STOPS_WITHIN_MS = 30_000;
const KEPT_LINES = 12;

function environment(dataDir: string, env: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  return { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), VITRINE_DATA: dataDir, ...env };
}

/** Runs a command of Vitrine beside the service. Returns the lines that it prints. */
export async function runVitrine(
  args: readonly string[],
  dataDir: string,
  env: Readonly<Record<string, string>>,
): Promise<{ exitCode: number; lines: string[] }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [serverBin, ...args],
      { cwd: dataDir, env: environment(dataDir, env), maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout, stderr) => {
        const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line !== '');
        resolve({ exitCode: child.exitCode ?? 1, lines });
      },
    );
  });
}

/** Starts `vitrine start` or `vitrine worker` on a data directory. Resolves when it listens or processes jobs. */
export async function startVitrine(
  command: 'start' | 'worker',
  dataDir: string,
  env: Readonly<Record<string, string>>,
): Promise<VitrineProcess> {
  const child = spawn(process.execPath, [serverBin, command], {
    cwd: dataDir,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(dataDir, {
      VITRINE_PORT: '0',
      VITRINE_LOG_LEVEL: 'warn',
      VITRINE_RATE_LIMITS: 'off',
      ...env,
    }),
  });
  const lines: string[] = [];
  let end: string | null = null;
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      end = signal ?? `exit code ${code}`;
      resolve(end);
    });
  });
  const address = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`vitrine ${command} does not start`)), STARTS_WITHIN_MS);
    const keep = (line: string) => {
      lines.push(line);
      if (lines.length > KEPT_LINES) lines.shift();
      const started = /^(?:listening on (\S+)|working on jobs)$/.exec(line);
      if (started === null) return;
      clearTimeout(late);
      resolve(started[1] ?? '');
    };
    createInterface({ input: child.stdout }).on('line', keep);
    createInterface({ input: child.stderr }).on('line', keep);
    void ended.then((how) => {
      clearTimeout(late);
      reject(new Error(`vitrine ${command} ends with ${how}: ${lines.join('\n')}`));
    });
  }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    child,
    pid: child.pid ?? 0,
    address,
    ended,
    end: () => end,
    lastLines: () => lines.join('\n'),
    async stop() {
      if (end !== null) return;
      child.kill('SIGTERM');
      const slow = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
      await ended;
      clearTimeout(slow);
    },
  };
}
