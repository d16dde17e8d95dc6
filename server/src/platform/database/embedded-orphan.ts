import { spawn } from 'node:child_process';
import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { sentence, WordedError } from '../language/sentence.ts';

/** Asks a server to stop when this process exits. */
export interface Guard {
  /** Takes the id of the process that is asked to stop. */
  pipe: Writable;
  dismiss(): void;
}

/**
 * Asks PostgreSQL to stop when this process exits for any reason: a shell reads a pipe that only our exit closes. The
 * server must be started with `reporting`. `cannot` is called when there is no shell.
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
    // A session of its own, so that a signal to our process group does not end it first.
    detached: true,
    cwd: '/',
  });
  child.on('error', cannot);
  // Without the shell nothing reads the pipe; `cannot` has been called.
  child.stdin.on('error', () => {});
  child.unref();
  return { pipe: child.stdin, dismiss: () => child.kill('SIGKILL') };
}

/**
 * Returns the arguments of a shell that reports its process id to a guard, whose pipe is its file descriptor 3, and then
 * becomes this program. It reports itself, because a kill of this process between starting it and reporting it would
 * leave it running.
 */
export function reporting(program: string, args: readonly string[]): string[] {
  return ['-c', `trap '' PIPE; echo $$ >&3; exec "$0" "$@" 3>&-`, program, ...args];
}

/** Returns why the shell could not become the program, by its exit code as POSIX defines it; null if it could. */
export function execFailure(exitCode: number | null): Error | null {
  const code = exitCode === 127 ? 'ENOENT' : exitCode === 126 ? 'EACCES' : null;
  return code === null ? null : Object.assign(new Error(code), { code });
}

/** Returns the process that a PostgreSQL lock file names; null when there is none. */
export async function readPid(lockFile: string): Promise<number | null> {
  const text = await readFile(lockFile, 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return Number.isInteger(pid) && pid > 1 ? pid : null;
}

/** Returns the working directory of a server; null when it cannot be read. */
async function directoryOf(pid: number): Promise<string | null> {
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (directory !== null) return directory;
  // Root in a container may see the arguments of another user's process, but not its directory.
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
  // A server of another library is unrelated too: process ids are reassigned after a reboot.
  return directory !== null || !name.includes('postgres') ? 'a stranger' : 'unknown';
}

/**
 * Prepares a start under the instance lock, when no other process may own this cluster. Sends `signal` to a server that
 * outlived its Node process. Removes a lock file whose process id now belongs to another program, as after the restart
 * of a container: PostgreSQL would wait for it forever.
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
        // It ended by itself or belongs to another user. If it still blocks the start, the start fails with its own
        // error.
      }
    } else if (holder === 'a stranger') await rm(lockFile, { force: true });
  }
}

const ORPHAN_ENDS_WITHIN_MS = 20_000;

/** Stops a server that outlived its Node process and waits for its end; throws when it does not end. */
export async function endOrphan(cluster: string): Promise<void> {
  const lockFile = join(cluster, 'postmaster.pid');
  const since = Date.now();
  for (;;) {
    const pid = await readPid(lockFile);
    if (pid === null || (await lookAtHolder(pid, cluster)) !== 'serves this cluster') return;
    const waited = Date.now() - since;
    if (waited > ORPHAN_ENDS_WITHIN_MS)
      throw new WordedError(
        sentence('PostgreSQL still runs on {directory} (process {pid})', {
          directory: cluster,
          pid: String(pid),
        }),
      );
    await clearOrphan(cluster, [lockFile], waited < ORPHAN_ENDS_WITHIN_MS / 2 ? 'SIGINT' : 'SIGQUIT');
    await sleep(50);
  }
}
