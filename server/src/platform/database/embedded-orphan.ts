import { spawn } from 'node:child_process';
import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Asks a server to stop when we are gone. */
export interface Guard {
  /** From now on it is this process that is asked. */
  watch(pid: number): void;
  dismiss(): void;
}

/**
 * Asks PostgreSQL to stop when we are gone, however we went: a shell that reads a pipe which only our death closes.
 * It is there before the server is, so that hardly a moment is left in which a kill leaves the server alone.
 * `cannot` is called when there is no shell to do it.
 */
export function guard(cannot: (error: Error) => void): Guard {
  const script = `read -r pid || exit 0
    read -r _
    kill -INT "$pid"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 1; kill -0 "$pid" || exit 0; done
    kill -QUIT "$pid"`;
  const child = spawn('/bin/sh', ['-c', script, 'vitrine-guard'], {
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['pipe', 'ignore', 'ignore'],
    // In a session of its own, so that what ends us does not end it first.
    detached: true,
    cwd: '/',
  });
  child.on('error', cannot);
  // Without the shell there is nobody to read; `cannot` has been told.
  child.stdin.on('error', () => {});
  child.unref();
  return {
    watch: (pid) => child.stdin.write(`${pid}\n`),
    dismiss: () => child.kill('SIGKILL'),
  };
}

/** The process that a lock file of PostgreSQL names; null when there is none. */
export async function readPid(lockFile: string): Promise<number | null> {
  const text = await readFile(lockFile, 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return Number.isInteger(pid) && pid > 1 ? pid : null;
}

/** Where a server runs; null when that cannot be seen. */
async function directoryOf(pid: number): Promise<string | null> {
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (directory !== null) return directory;
  // Of another user's process a container's root may see the arguments, but not the directory.
  const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  const at = args.indexOf('-D');
  return at === -1 ? null : (args[at + 1] ?? null);
}

type Holder = 'serves this cluster' | 'a stranger' | 'unknown';

async function lookAtHolder(pid: number, cluster: string): Promise<Holder> {
  const directory = await directoryOf(pid);
  if (directory !== null && [cluster, await realpath(cluster)].includes(directory))
    return 'serves this cluster';
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => null);
  if (name === null) return 'unknown';
  // Another library's server is a stranger too: after a restart of the machine the numbers are dealt anew.
  return directory !== null || !name.includes('postgres') ? 'a stranger' : 'unknown';
}

/**
 * Clears the way for a start under the instance lock, where nobody but us may own this cluster. A server that
 * outlived its Node gets `signal`. A lock file whose process is now something else, as after the restart of a
 * container that counts its processes from 1 again, is removed: PostgreSQL would wait for it for ever.
 */
export async function clearOrphan(
  cluster: string,
  lockFiles: string[],
  signal: NodeJS.Signals,
): Promise<void> {
  for (const lockFile of lockFiles) {
    const pid = await readPid(lockFile);
    if (pid === null) continue;
    const holder = await lookAtHolder(pid, cluster);
    if (holder === 'serves this cluster') {
      try {
        process.kill(pid, signal);
      } catch {
        // It ended by itself, or is not ours to stop; the start says so if it cannot go on.
      }
    } else if (holder === 'a stranger') await rm(lockFile, { force: true });
  }
}

const ORPHAN_ENDS_WITHIN_MS = 20_000;

/** Stops a server that outlived its Node and waits until it has ended; throws when it does not. */
export async function endOrphan(cluster: string): Promise<void> {
  const lockFile = join(cluster, 'postmaster.pid');
  const since = Date.now();
  for (;;) {
    const pid = await readPid(lockFile);
    if (pid === null || (await lookAtHolder(pid, cluster)) !== 'serves this cluster') return;
    const waited = Date.now() - since;
    if (waited > ORPHAN_ENDS_WITHIN_MS)
      throw new Error(`PostgreSQL still runs on ${cluster} (process ${pid})`);
    await clearOrphan(cluster, [lockFile], waited < ORPHAN_ENDS_WITHIN_MS / 2 ? 'SIGINT' : 'SIGQUIT');
    await sleep(50);
  }
}
