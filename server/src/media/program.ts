import { delimiter, join } from 'node:path';
import { isExecutable } from './ffmpeg/program.ts';

/** The program that a setting names, nothing for the one of this name on PATH, or `off`; null when there is none. */
export function findProgram(named: string | undefined, name: string): string | null {
  if (named === 'off') return null;
  if (named !== undefined && named !== '') return isExecutable(named) ? named : null;
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}
