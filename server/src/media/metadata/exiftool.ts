import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ExifTool, exiftoolPath } from 'exiftool-vendored';
import pLimit from 'p-limit';
import { decoderKinds } from '../decoding/kinds.ts';

/** Programs at once, as many as there are turns to read metadata; one file takes a core for some 35 ms. */
const PROCESSES = decoderKinds.metadata.workers + decoderKinds.metadata.spare;
/** A program without work goes, and its memory with it. */
const IDLE_MS = 60_000;
/** Most time a program may take to start. */
const START_MS = 15_000;
/** The address space one program may take, in kB: a hostile file ends the program, never the machine. */
const MEMORY_KB = 2_000_000;

/**
 * What is asked of every file. Values are texts, so that a title `007` stays one. Numbers are asked for as such
 * where ExifTool would print them for people. The thumbnail's own tags and those of the file system are not the file's.
 */
const readArgs = [
  '-json',
  '-G0:1',
  '-fast',
  '-api',
  'StructFormat=JSONQ',
  // One value cannot fill the memory of this process.
  '-api',
  'Filter=tr/\\0//d; $_ = substr($_, 0, 40000) if length($_) > 40000',
  ...['*Duration*', 'FocalLength', 'GPSLatitude', 'GPSLongitude', 'GPSCoordinates'].map((tag) => `-${tag}#`),
  '-all',
  '--IFD1:all',
  '--System:all',
];

/** A perl that can be started, or null. */
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

/** Nothing of ours is told to it; without a zone of its own it reckons in UTC. */
const environment = { LANG: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };

/** ExifTool under a limit of memory, without a configuration of its own: `.ExifTool_config` is Perl that would be run. */
async function startProgram(perl: string): Promise<ChildProcess> {
  const args = ['-config', '', '-stay_open', 'True', '-@', '-'];
  const limited = `ulimit -v ${MEMORY_KB} 2>/dev/null; exec "$0" "$@"`;
  return spawn('/bin/sh', ['-c', limited, perl, await exiftoolPath(), ...args], {
    stdio: 'pipe',
    env: environment,
  });
}

/** The version of ExifTool that this perl runs; rejects when it does not. */
export async function exifToolVersion(perl: string): Promise<string> {
  const { stdout } = await promisify(execFile)(perl, [await exiftoolPath(), '-config', '', '-ver'], {
    env: environment,
    timeout: START_MS,
    killSignal: 'SIGKILL',
  });
  const version = stdout.trim();
  if (!/^\d+\.\d+$/.test(version)) throw new Error('it does not tell its version');
  return version;
}

export interface ExifToolPool {
  /** What stands in a file by group and name. Rejects when the program was ended over it. */
  read(path: string): Promise<[string, unknown][]>;
  /** Ends the programs; reading after it rejects. */
  close(): Promise<void>;
}

/** ExifTool in processes that stay open, started with the first file; one that takes too long is ended. */
export function openExifTool(perl: string, timeoutMs: number): ExifToolPool {
  const pool = new ExifTool({
    maxProcs: PROCESSES,
    spawnTimeoutMillis: START_MS,
    taskTimeoutMillis: timeoutMs,
    // A file that ended one program would end the next.
    taskRetries: 0,
    maxIdleMsPerProcess: IDLE_MS,
    checkPerl: false,
    processFactory: () => startProgram(perl),
  });
  // No file waits within the pool, so that its time begins when it is read.
  const limit = pLimit(PROCESSES);
  const inTime = async (path: string): Promise<[string, unknown][]> => {
    const late = new AbortController();
    // The pool's own limit counts from when a program has the file; this one also when none can be started.
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
  return {
    read: (path) => limit(() => inTime(path)),
    close: () => pool.end(true),
  };
}
