import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const bin = join(import.meta.dirname, '../../bin/vitrine.js');

/** The service as users run it: in its own process, on its own directory. */
export interface ServiceProcess {
  address: string;
  child: ChildProcess;
  /** Returns everything printed so far. */
  output(): string;
  exited: Promise<number | null>;
}

/** Starts `vitrine start` on a data directory, by another program if one is named, and waits until it listens. */
export async function startProcess(
  dataDir: string,
  env: Record<string, string> = {},
  runner: readonly string[] = [],
): Promise<ServiceProcess> {
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env;
  const own = {
    PATH,
    HOME,
    ...(TMPDIR === '' ? {} : { TMPDIR }),
    VITRINE_DATA: dataDir,
    VITRINE_PORT: '0',
    VITRINE_LOG_LEVEL: 'warn',
    VITRINE_RATE_LIMITS: 'off',
    VITRINE_RESERVE_BYTES: '0',
  };
  const [program = process.execPath, ...args] = [...runner, process.execPath, bin, 'start'];
  const child = spawn(program, args, { env: { ...own, ...env }, cwd: dataDir });
  const lines: string[] = [];
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      const found = /^listening on (\S+)$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void exited.then((code) => reject(new Error(`ended with ${code}: ${lines.join('\n')}`)));
  });
  return { address, child, output: () => lines.join('\n'), exited };
}

/** The process id of the PostgreSQL that runs on a data directory. */
export async function postmasterOf(dataDir: string): Promise<number> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

/** Returns whether a process runs, also of another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Runs a command of Vitrine in a process of its own; `ended` resolves with its exit code and what it printed. */
export function spawnVitrine(dataDir: string, args: readonly string[], env: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  const own = { PATH, HOME, VITRINE_DATA: dataDir, VITRINE_PORT: '0' };
  const child = spawn(process.execPath, [bin, ...args], { cwd: dataDir, env: { ...own, ...env } });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  const ended = new Promise<{ code: number | null; said: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, said: lines.join('\n') })),
  );
  return { child, ended };
}
