import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { confinementOf } from '../../core/decoder-confinement.ts';
import type { Abilities } from '../../media/decoding/abilities.ts';
import { openConfinement } from '../../media/decoding/confinement.ts';
import { findProgram } from '../../media/ffmpeg/program.ts';
import { type Sentence, sentence, verbatim } from '../../platform/language/sentence.ts';
import { type Examination, type Finding, passed, problem, warning } from './check.ts';

const OLDEST_NODE = 24;

export function judgeNode(version: string): Finding {
  return Number(version.split('.')[0]) >= OLDEST_NODE
    ? passed(verbatim(`Node ${version}`))
    : problem(
        sentence('Node {version} is too old', { version }),
        sentence('Run `npm ci` with install scripts on, which brings Node {version}.', {
          version: OLDEST_NODE,
        }),
      );
}

const node: Examination = {
  code: 'node',
  title: verbatim('Node'),
  look: async () => judgeNode(process.versions.node),
};

/** Returns the path of a program, or null if it is not in the search path. */
async function find(program: string, searchPath: string): Promise<string | null> {
  for (const directory of searchPath.split(delimiter).filter((entry) => entry !== '')) {
    const path = join(directory, program);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return null;
}

const perl: Examination = {
  code: 'perl',
  title: verbatim('Perl'),
  async look({ searchPath }) {
    const path = await find('perl', searchPath);
    return path === null
      ? warning(
          sentence('not found: metadata is read by a simpler reader, without ExifTool'),
          sentence('Install perl (`apt install perl`).'),
        )
      : passed(verbatim(path));
  },
};

/** Returns whether the FFmpeg of npm loads, which needs a package for this platform. Loads it in another process. */
async function packagedFfmpegLoads(): Promise<boolean> {
  const args = ['--input-type=module', '--eval', "await import('node-av')"];
  return promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, timeout: 30_000 }).then(
    () => true,
    () => false,
  );
}

/** Judges the FFmpeg that makes previews: the system's program, otherwise npm's package. */
export function judgeFfmpeg(program: string | null, hasPackage: boolean): Finding {
  if (program !== null) return passed(verbatim(program));
  if (hasPackage) return passed(sentence('the one of npm (node-av)'));
  return warning(
    sentence('not found: video and sound get no previews'),
    sentence('Install ffmpeg (`apt install ffmpeg`), or run `npm ci`, which brings another one.'),
  );
}

const ffmpeg: Examination = {
  code: 'ffmpeg',
  title: verbatim('FFmpeg'),
  async look({ config, searchPath }) {
    const program = await findProgram(config.ffmpeg ?? undefined, searchPath);
    return judgeFfmpeg(program?.ffmpeg ?? null, program === null && (await packagedFfmpegLoads()));
  },
};

/** Returns whether an installed package reads HEIC, which sharp's own libvips may not read. */
function hasHeicReader(): boolean {
  try {
    import.meta.resolve('libheif-js');
    return true;
  } catch {
    return false;
  }
}

const heic: Examination = {
  code: 'heic',
  title: verbatim('HEIC'),
  async look() {
    const { sharp } = await import('../../media/tuned-sharp.ts');
    const native = sharp.format.heif?.input.fileSuffix?.includes('.heic') === true;
    return native || hasHeicReader()
      ? passed(sentence('pictures of iPhones get previews'))
      : warning(
          sentence('not read: pictures in HEIC are kept without previews'),
          sentence(
            'Nothing to install yet; their originals are safe and are rendered when a version reads them.',
          ),
        );
  },
};

/** What decoders could do although they need not, and what they cannot do. */
function judgeAbilities(found: Abilities): { can: Sentence[]; cannot: Sentence[] } {
  const can: Sentence[] = [];
  const cannot: Sentence[] = [];
  const judge = (isAble: boolean, able: Sentence, unable: Sentence) =>
    isAble ? can.push(able) : cannot.push(unable);
  judge(found.isCapable, sentence('have capabilities of root'), sentence('capabilities'));
  judge(
    found.canGainRights,
    sentence('could gain rights through set-user-ID programs'),
    sentence('ways to gain rights'),
  );
  judge(found.hasNetwork, sentence('reach the network'), sentence('a network'));
  judge(
    found.writable.length > 0,
    sentence('write in {paths}', { paths: found.writable }),
    sentence('write access outside their directories'),
  );
  judge(
    found.readable.length > 0,
    sentence('read {paths}', { paths: found.readable }),
    sentence('access to the secrets of the library'),
  );
  return { can, cannot };
}

/** Returns the user as which decoders run. */
function userOf(found: Abilities, ownUid: number, isOther: boolean): Sentence {
  if (isOther) return sentence('decoders run as uid {uid}', { uid: String(found.uid) });
  return ownUid === 0 ? sentence('decoders run as root') : sentence('decoders run as the user of Vitrine');
}

/** `ownUid` is the user of Vitrine, and `missing` says why decoders have more rights than they need. */
export function judgeDecoders(found: Abilities, ownUid: number, missing: readonly Sentence[]): Finding {
  const { can, cannot } = judgeAbilities(found);
  // In a user namespace of its own, the user of Vitrine is shown as root without rights.
  const isOther = ownUid === 0 && found.uid !== 0;
  const user = userOf(found, ownUid, isOther);
  const held =
    cannot.length === 0 ? user : sentence('{decoders} without {rights}', { decoders: user, rights: cannot });
  if (can.length === 0 && (isOther || ownUid !== 0)) return passed(held);
  const able =
    can.length === 0
      ? held
      : sentence('{decoders}; but they {abilities}', { decoders: held, abilities: can });
  return warning(
    missing.length === 0 ? able : sentence('{decoders} ({reasons})', { decoders: able, reasons: missing }),
    sentence(
      'A file that takes over its decoder could do this, too. See “What decoders may do” in docs/operations.md.',
    ),
  );
}

const decoders: Examination = {
  code: 'decoders',
  title: sentence('Decoders'),
  async look({ config, storage }) {
    const confinement = await openConfinement(confinementOf(config, storage));
    try {
      const secrets = ['postgres.secret', 'secret.key'].map((name) => join(config.dataDir, name));
      const directories = [...new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm', config.dataDir, homedir()])];
      const found = await confinement.examine({ files: secrets, directories });
      return judgeDecoders(found, process.getuid?.() ?? -1, confinement.missing);
    } finally {
      confinement.close();
    }
  },
};

export const programExaminations = [node, perl, ffmpeg, heic, decoders];
