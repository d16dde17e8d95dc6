import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
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

function program(code: string, title: string, name: string, without: string): Examination {
  return {
    code,
    title,
    async look({ searchPath }) {
      const path = await find(name, searchPath);
      return path === null ? warning(without, `Install ${name} (\`apt install ${name}\`).`) : passed(path);
    },
  };
}

const perl = program(
  'perl',
  'Perl',
  'perl',
  'not found: metadata is read by a simpler reader, without ExifTool',
);
const ffmpeg = program('ffmpeg', 'FFmpeg', 'ffmpeg', 'not found: video and sound get no previews');

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
