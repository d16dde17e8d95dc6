import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';

/** Returns the path of a program of the system, or null. Does not depend on PATH, which may lack the sbin folders. */
export function systemProgram(name: string): string | null {
  const folders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find(existsSync) ?? null;
}

/**
 * Namespaces without a network, in which everything is read-only except one directory, and another is hidden. A shell
 * keeps them until this process ends; decoders enter them, which takes a millisecond.
 */
export interface Room {
  /** What precedes the command line of a program in the room. */
  prefix: readonly string[];
  isAlive(): boolean;
  close(): void;
}

/**
 * Hides a directory and makes every other mount read-only with its other options unchanged, which a user namespace
 * requires. Device files stay writable, and so does what a process may change of itself in /proc. In a user namespace
 * of our own, forbids further ones, in which a process would get capabilities again. Waits for the end of its input.
 */
const script = `
  set -e
  writable=$1 hidden=$2 own=$3
  exec 9<"$writable"
  if [ -n "$hidden" ]; then mount -t tmpfs -o mode=0755,nosuid,nodev vitrine "$hidden"; mkdir -p "$writable"; fi
  mount --no-canonicalize --bind /proc/self/fd/9 "$writable"
  exec 9<&-
  while read -r _ _ _ _ point options _; do
    point=$(printf %b "$point")
    case "$point" in "$writable"|/proc|/proc/*|/sys|/sys/*) continue;; esac
    case "$options" in rw|rw,*) mount -o "remount,bind,ro\${options#rw}" "$point" || :;; esac
  done </proc/self/mountinfo
  if [ -n "$own" ]; then (echo 0 >/proc/sys/user/max_user_namespaces) 2>/dev/null || :; fi
  echo ready
  read -r _ || :`;

/** Maximum time to open a room on a busy machine. */
const OPENS_WITHIN_MS = 10_000;

/**
 * Resolves to null when the room is ready, otherwise to why it cannot be opened. Rejects on momentary faults of the
 * machine.
 */
async function untilReady(child: ChildProcess): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  let said = '';
  const timer = setTimeout(() => reject(new Error('namespaces take too long to open')), OPENS_WITHIN_MS);
  child.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(0, 1000);
  });
  child.stdout?.once('data', () => resolve(null));
  child.once('error', reject);
  child.once('close', () => resolve(said.trim().split('\n')[0] || 'it ended'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** A child that keeps no process running, and ends with this one, because its input does. */
function setFree(child: ChildProcess): void {
  child.unref();
  for (const pipe of [child.stdin, child.stdout, child.stderr]) {
    // The pipes of a child process are sockets, which their declared types omit.
    (pipe as { unref?(): void } | null)?.unref?.();
  }
}

/**
 * Opens a room in which only `writable` can be changed and `hidden` is empty, except for `writable` if that is inside.
 * Returns why that is impossible otherwise: the system may lack the programs or refuse the namespaces.
 */
export async function openRoom(writable: string, hidden: string | null): Promise<Room | Sentence> {
  const [unshare, nsenter] = [systemProgram('unshare'), systemProgram('nsenter')];
  if (unshare === null || nsenter === null)
    return sentence('unshare and nsenter (util-linux) are not installed');
  const isRoot = process.getuid?.() === 0;
  // Ordinary users become root of a user namespace, and lose that again with their capabilities.
  const own = isRoot ? [] : ['--user', '--map-root-user'];
  const args = [
    ...own,
    '--mount',
    '--net',
    '/bin/sh',
    '-c',
    script,
    'vitrine-room',
    writable,
    hidden ?? '',
    ...own,
  ];
  const child = spawn(unshare, args, {
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A session of its own, so that a signal to our process group does not end it before us.
    detached: true,
    cwd: '/',
  });
  child.stdin.on('error', () => {});
  const fault = await untilReady(child).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  if (fault !== null || child.pid === undefined) {
    child.kill('SIGKILL');
    return sentence('namespaces are not permitted ({reason})', { reason: String(fault) });
  }
  let isAlive = true;
  child.once('exit', () => {
    isAlive = false;
  });
  setFree(child);
  const entered = isRoot ? [] : ['--user', '--preserve-credentials'];
  return {
    prefix: [nsenter, `--target=${child.pid}`, ...entered, '--mount', '--net'],
    isAlive: () => isAlive,
    close: () => child.stdin.end(),
  };
}
