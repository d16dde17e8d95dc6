import { isAbsolute } from 'node:path';
import { DECODER_UID } from '../../media/decoding/kinds.ts';
import { locateProgram } from '../../media/ffmpeg/program.ts';
import { findProgram } from '../../media/program.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { type SettingSource, wholeNumber } from './setting-source.ts';

/** Programs of the system that decode files. */
export interface ProgramSettings {
  /** The program ffmpeg; `off`: only the npm package's; null: the system's, if there is one. */
  ffmpeg: string | null;
  /** The program soffice; `off`: none; null: the system's, if there is one. */
  libreoffice: string | null;
  /** The program gs (Ghostscript), with the same values. */
  ghostscript: string | null;
  /** As root: the uid and gid that decoders run as. */
  decoderUid: number;
}

export const programSettingNames = [
  'VITRINE_FFMPEG',
  'VITRINE_LIBREOFFICE',
  'VITRINE_GHOSTSCRIPT',
  'VITRINE_DECODER_UID',
] as const;
type Name = (typeof programSettingNames)[number];
type Source = SettingSource<Name>;

/** Returns the program of the setting, which must exist; `off` and null are returned unchanged. */
function ffmpegProgram({ value, refusal }: Source): string | null {
  const text = value('VITRINE_FFMPEG');
  if (text === null || text === 'off' || (isAbsolute(text) && locateProgram(text) !== null)) return text;
  throw refusal(
    sentence(
      'VITRINE_FFMPEG must be the absolute path of an ffmpeg with its ffprobe beside it, or off, not {given}',
      { given: JSON.stringify(text) },
    ),
  );
}

/** Returns a program without an npm alternative, with the same rules. */
function namedProgram({ value, refusal }: Source, name: Name, program: string): string | null {
  const text = value(name);
  if (text === null || text === 'off' || (isAbsolute(text) && findProgram(text, program) !== null))
    return text;
  throw refusal(
    sentence('{name} must be the absolute path of {program}, or off, not {given}', {
      name,
      program,
      given: JSON.stringify(text),
    }),
  );
}

/** Reads which programs decode files, and as which user, which must not be that of PostgreSQL. */
export function readProgramSettings(source: Source, postgresUid: number): ProgramSettings {
  const decoderUid = wholeNumber(source, 'VITRINE_DECODER_UID', DECODER_UID, 1, 4_294_967_294);
  if (decoderUid === postgresUid)
    throw source.refusal(
      sentence(
        'VITRINE_DECODER_UID must differ from VITRINE_POSTGRES_UID, or decoders could read the database',
      ),
    );
  return {
    decoderUid,
    ffmpeg: ffmpegProgram(source),
    libreoffice: namedProgram(source, 'VITRINE_LIBREOFFICE', 'soffice'),
    ghostscript: namedProgram(source, 'VITRINE_GHOSTSCRIPT', 'gs'),
  };
}
