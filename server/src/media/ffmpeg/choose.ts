import type { Ffmpeg } from './ffmpeg.ts';
import { findProgram } from './program.ts';

let found: Promise<Ffmpeg> | null = null;

/** Returns the FFmpeg of this process: the given program, otherwise the system's, otherwise the npm package's. */
export function ffmpeg(): Promise<Ffmpeg> {
  found ??= ffmpegOf(process.env.FFMPEG_PROGRAM);
  return found;
}

/** The filter without which an FFmpeg shows the colours of high dynamic range and of BT.2020 wrongly. */
const COLOUR_FILTER = 'zscale';

/**
 * Returns the FFmpeg for a setting, read as in `locateProgram`; the npm package's if there is no usable program, or if
 * only the package converts all colours (MEDIA-45).
 */
export async function ffmpegOf(named: string | undefined): Promise<Ffmpeg> {
  const program = await findProgram(named);
  const { packagedFfmpeg } = await import('./packaged.ts');
  if (program === null) return packagedFfmpeg();
  const system = (await import('./system.ts')).systemFfmpeg(program);
  if (await system.hasFilter(COLOUR_FILTER)) return system;
  // The package is optional, and wrong colours are better than none.
  return packagedFfmpeg().catch(() => system);
}
