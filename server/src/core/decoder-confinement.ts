import { isAbsolute } from 'node:path';
import type { ConfinementOptions } from '../media/decoding/confinement.ts';
import type { Storage } from '../platform/storage/storage.ts';
import type { Config } from './config.ts';

/** Returns where the decoders of a library get their files, and what they must not see. */
export function confinementOf(
  { dataDir, decoderUid, ffmpeg, libreoffice, ghostscript }: Config,
  { incomingDir, operations }: Pick<Storage, 'incomingDir' | 'operations'>,
): ConfinementOptions {
  const programs = [ffmpeg, libreoffice, ghostscript].flatMap((program) =>
    program !== null && isAbsolute(program) ? [program] : [],
  );
  return { directory: incomingDir, hidden: dataDir, uid: decoderUid, programs, operations };
}
