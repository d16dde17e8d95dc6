import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ExifTool, exiftoolPath } from 'exiftool-vendored';
import pLimit from 'p-limit';
import type { Confinement } from '../decoding/confinement.ts';
import { decoderKinds } from '../decoding/kinds.ts';

/**
 * Maximum number of concurrent programs, which equals the number of metadata slots. One file takes about 35 ms of CPU
 * time.
 */
const PROCESSES = decoderKinds.metadata.workers + decoderKinds.metadata.spare;
/** An idle program ends after this time and frees its memory. */
const IDLE_MS = 60_000;
/** Maximum time to start a program. */
const START_MS = 15_000;
/** Address space limit of one program, in kB, so that a hostile file ends the program and not the machine. */
const MEMORY_KB = 2_000_000;

/**
 * The arguments for every file. Values are strings, so that a title `007` keeps its zeros. Tags that ExifTool would
 * format for display are requested as numbers. Tags of the thumbnail and of the file system are excluded, because
 * they do not describe the file.
 */
const readArgs = [
  '-json',
  // Every byte is a character in Latin-1; what is UTF-8 is recognised afterwards (`legible`).
  '-charset',
  'EXIF=Latin',
  '-G0:1',
  '-api',
  'StructFormat=JSONQ',
  // Structures in addition to their tags: only they tell which type belongs to which name.
  '-api',
  'Struct=2',
  // Limits the length of one value, so that it cannot fill the memory of this process.
  '-api',
  'Filter=tr/\\0//d; $_ = substr($_, 0, 40000) if length($_) > 40000',
  ...['*Duration*', 'FocalLength', 'GPSLatitude', 'GPSLongitude', 'GPSCoordinates'].map((tag) => `-${tag}#`),
  '-all',
  '--IFD1:all',
  '--System:all',
];

/** Returns the path of an executable perl, or null. */
export async function findPerl(searchPath: string): Promise<string | null> {
  for (const path of ['/usr/bin/perl', ...searchPath.split(delimiter).map((dir) => join(dir, 'perl'))]) {
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return null;
}

/** Returns the path of ExifTool's script, for another program that runs it. */
export async function exifToolScript(): Promise<string> {
  return exiftoolPath();
}

/** Passes none of our environment to ExifTool. It computes in UTC. */
const environment = { LANG: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };

/**
 * Runs ExifTool with a memory limit and without a configuration file, because `.ExifTool_config` is executable Perl.
 */
async function startProgram(perl: string, confinement: Confinement): Promise<ChildProcess> {
  const args = ['-config', '', '-stay_open', 'True', '-@', '-'];
  const limited = `ulimit -v ${MEMORY_KB} 2>/dev/null; exec "$0" "$@"`;
  const shell = ['-c', limited, perl, await exiftoolPath(), ...args];
  const { command, args: all, identity } = confinement.launch('/bin/sh', shell);
  return spawn(command, all, {
    ...identity,
    cwd: '/',
    stdio: 'pipe',
    env: environment,
  });
}

/** Returns the version of ExifTool that this perl runs; rejects if it cannot run it. */
export async function exifToolVersion(perl: string): Promise<string> {
  const { stdout } = await promisify(execFile)(perl, [await exiftoolPath(), '-config', '', '-ver'], {
    env: environment,
    timeout: START_MS,
    killSignal: 'SIGKILL',
  });
  const version = stdout.trim();
  if (!/^\d+\.\d+$/.test(version)) throw new Error('ExifTool reported no valid version');
  return version;
}

export interface ExifToolPool {
  /** Returns the tags of a file by group and name. Rejects if the file made the program end. */
  read(path: string): Promise<[string, unknown][]>;
  /** Ends the programs; later reads reject. */
  close(): Promise<void>;
}

/**
 * Runs ExifTool in long-lived processes. The first file starts the first one; a process that exceeds the time limit
 * is killed.
 */
export function openExifTool(
  perl: string,
  timeoutMs: number,
  confine: () => Promise<Confinement>,
): ExifToolPool {
  const pool = new ExifTool({
    maxProcs: PROCESSES,
    spawnTimeoutMillis: START_MS,
    taskTimeoutMillis: timeoutMs,
    // Does not retry, because a file that ended one program would end the next.
    taskRetries: 0,
    maxIdleMsPerProcess: IDLE_MS,
    checkPerl: false,
    processFactory: async () => startProgram(perl, await confine()),
  });
  // Files do not queue inside the pool, so their time limit starts when they are read.
  const limit = pLimit(PROCESSES);
  const inTime = async (path: string): Promise<[string, unknown][]> => {
    const late = new AbortController();
    // The pool's own limit starts when a program receives the file; this one also applies if no program can be
    // started.
    const timer = setTimeout(() => late.abort(), timeoutMs + START_MS);
    const gaveUp = new Promise<never>((_, reject) => {
      late.signal.addEventListener('abort', () => reject(new Error('ExifTool took too long to start')));
    });
    try {
      return Object.entries(await Promise.race([pool.readRaw(path, { readArgs, useMWG: false }), gaveUp]));
    } finally {
      clearTimeout(timer);
    }
  };
  const readInCell = async (path: string) => {
    const handed = await (await confine()).openCell().handOver({ path });
    try {
      return await inTime(handed.input.path);
    } finally {
      await handed.close();
    }
  };
  return {
    read: (path) => limit(() => readInCell(path)),
    close: () => pool.end(true),
  };
}
