import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isAlive } from './process.ts';

const MEMORY = '/dev/shm';
const prefix = 'vitrine-tests-';
const ROOM = 4 * 1024 ** 3;

async function runsPrograms(directory: string): Promise<boolean> {
  const program = join(directory, 'program');
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 });
  try {
    await promisify(execFile)(program);
    return true;
  } catch {
    return false;
  } finally {
    await rm(program);
  }
}

/** Removes what killed runs have left. */
async function clearLeftovers(): Promise<void> {
  for (const name of await readdir(MEMORY)) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (!(pid > 0) || isAlive(pid)) continue;
    // Leftovers of other users cannot be removed.
    await rm(join(MEMORY, name), { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * Puts all files of the tests into memory if it has room: on a disk, creating a database for each test file takes ten
 * times as long. Returns a function that removes them; without room it changes nothing.
 */
export async function writeToMemory(): Promise<() => Promise<void>> {
  const room = await statfs(MEMORY).catch(() => null);
  if (room === null || room.bavail * room.bsize < ROOM || freemem() < ROOM) return async () => {};
  await clearLeftovers();
  const directory = await mkdtemp(join(MEMORY, `${prefix}${process.pid}-`)).catch(() => null);
  if (directory === null) return async () => {};
  const clear = () => rm(directory, { recursive: true, force: true });
  if (!(await runsPrograms(directory))) {
    await clear();
    return async () => {};
  }
  // Accessible to PostgreSQL's user, like /tmp.
  await chmod(directory, 0o1777);
  process.env.TMPDIR = directory;
  return clear;
}
