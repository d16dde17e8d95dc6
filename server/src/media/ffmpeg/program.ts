import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The programs of one FFmpeg. */
export interface Program {
  ffmpeg: string;
  ffprobe: string;
}

/** Encoders without which an FFmpeg cannot make the video ladder. */
const neededEncoders = ['libx264', 'aac'];

/** Returns whether there is an executable file at this path. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the programs for a setting: the path of ffmpeg, unset or empty for the one in `searchPath`, or `off`.
 * Returns null if there are none.
 */
export function locateProgram(
  named: string | undefined,
  searchPath = process.env.PATH ?? '',
): Program | null {
  if (named === 'off') return null;
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '');
  const candidates =
    named === undefined || named === '' ? folders.map((folder) => join(folder, 'ffmpeg')) : [named];
  for (const ffmpeg of candidates) {
    const ffprobe = join(dirname(ffmpeg), basename(ffmpeg).replace(/ffmpeg/, 'ffprobe'));
    if (isExecutable(ffmpeg) && isExecutable(ffprobe)) return { ffmpeg, ffprobe };
  }
  return null;
}

/** Returns the system's FFmpeg if it has the encoders that are needed, otherwise null. */
export async function findProgram(named: string | undefined, searchPath?: string): Promise<Program | null> {
  const program = locateProgram(named, searchPath);
  if (program === null) return null;
  try {
    const { stdout } = await promisify(execFile)(program.ffmpeg, ['-v', 'error', '-encoders']);
    return neededEncoders.every((name) => stdout.includes(` ${name} `)) ? program : null;
  } catch {
    return null;
  }
}
