import { delimiter, join } from 'node:path';
import { isExecutable } from './ffmpeg/program.ts';

/**
 * Returns the program for a setting: a path, unset or empty for the program of this name
 * on PATH, or `off`. Returns null if there is none.
 */
export function findProgram(named: string | undefined, name: string): string | null {
  if (named === 'off') return null;
  if (named !== undefined && named !== '') return isExecutable(named) ? named : null;
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}
