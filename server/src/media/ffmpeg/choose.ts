import type { Ffmpeg } from './ffmpeg.ts';
import { findProgram } from './program.ts';

let found: Promise<Ffmpeg> | null = null;

/** Returns the FFmpeg of this process: the given program, otherwise the system's, otherwise the npm package's. */
export function ffmpeg(): Promise<Ffmpeg> {
  found ??= ffmpegOf(process.env.FFMPEG_PROGRAM);
  return found;
}

/** Returns the FFmpeg for a setting, read as in `locateProgram`; the npm package's if there is no usable program. */
export async function ffmpegOf(named: string | undefined): Promise<Ffmpeg> {
  const program = await findProgram(named);
  if (program !== null) return (await import('./system.ts')).systemFfmpeg(program);
  const { packagedFfmpeg } = await import('./packaged.ts');
  return packagedFfmpeg();
}
