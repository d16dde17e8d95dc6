import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The programs of one FFmpeg. */
export interface Program {
  ffmpeg: string;
  ffprobe: string;
}

/** Without these an FFmpeg is of no use for the video ladder. */
const neededEncoders = ['libx264', 'aac'];

/** Whether there is a program at this path. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The programs that a setting names: a path of ffmpeg, nothing for the one on PATH, or `off`; null when there are none. */
export function locateProgram(named: string | undefined): Program | null {
  if (named === 'off') return null;
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates =
    named === undefined || named === '' ? folders.map((folder) => join(folder, 'ffmpeg')) : [named];
  for (const ffmpeg of candidates) {
    const ffprobe = join(dirname(ffmpeg), basename(ffmpeg).replace(/ffmpeg/, 'ffprobe'));
    if (isExecutable(ffmpeg) && isExecutable(ffprobe)) return { ffmpeg, ffprobe };
  }
  return null;
}

/** The system's FFmpeg, if there is one with the encoders we need. */
export async function findProgram(named: string | undefined): Promise<Program | null> {
  const program = locateProgram(named);
  if (program === null) return null;
  try {
    const { stdout } = await promisify(execFile)(program.ffmpeg, ['-v', 'error', '-encoders']);
    return neededEncoders.every((name) => stdout.includes(` ${name} `)) ? program : null;
  } catch {
    return null;
  }
}
