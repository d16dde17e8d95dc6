import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../media/ffmpeg/program.ts';
import { type Examination, type Finding, passed, problem, warning } from './check.ts';

const OLDEST_NODE = 24;

export function judgeNode(version: string): Finding {
  return Number(version.split('.')[0]) >= OLDEST_NODE
    ? passed(`Node ${version}`)
    : problem(
        `Node ${version} is too old`,
        `Run \`npm ci\` with install scripts on, which brings Node ${OLDEST_NODE}.`,
      );
}

const node: Examination = {
  code: 'node',
  title: 'Node',
  look: async () => judgeNode(process.versions.node),
};

/** Returns the path of a program, or null if it is not in the search path. */
async function find(program: string, searchPath: string): Promise<string | null> {
  for (const directory of searchPath.split(delimiter).filter((one) => one !== '')) {
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
  title: 'Perl',
  async look({ searchPath }) {
    const path = await find('perl', searchPath);
    return path === null
      ? warning(
          'not found: metadata is read by a simpler reader, without ExifTool',
          'Install perl (`apt install perl`).',
        )
      : passed(path);
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
  if (program !== null) return passed(program);
  if (hasPackage) return passed('the one of npm (node-av)');
  return warning(
    'not found: video and sound get no previews',
    'Install ffmpeg (`apt install ffmpeg`), or run `npm ci`, which brings another one.',
  );
}

const ffmpeg: Examination = {
  code: 'ffmpeg',
  title: 'FFmpeg',
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
  title: 'HEIC',
  async look() {
    const { sharp } = await import('../media/tuned-sharp.ts');
    const native = sharp.format.heif?.input.fileSuffix?.includes('.heic') === true;
    return native || hasHeicReader()
      ? passed('pictures of iPhones get previews')
      : warning(
          'not read: pictures in HEIC are kept without previews',
          'Nothing to install yet; their originals are safe and are rendered when a version reads them.',
        );
  },
};

export const programExaminations = [node, perl, ffmpeg, heic];
