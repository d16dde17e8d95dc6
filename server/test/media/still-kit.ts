import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, expect } from 'vitest';
import { type DecoderOptions, type Decoders, openDecoders } from '../../src/media/decoding/decoders.ts';
import { DecodingStopped } from '../../src/media/decoding/process.ts';
import { defaultLadder } from '../../src/media/ladder.ts';
import type { Rendering } from '../../src/media/render-file.ts';
import { renderFile } from '../../src/media/render-file.ts';
import { previewKind } from '../../src/media/renderable.ts';
import { sniff } from '../../src/media/sniff.ts';
import { saySentence } from '../../src/platform/language/sentence.ts';
import { sharedMedia } from '../support/library.ts';

/** Only the largest rung: most tests look at one picture, and encoding is what costs time. */
export const largestRung = defaultLadder.filter(({ key }) => key === 'hires');

/** The decoders of all test files of this worker by their options; their processes end when they are idle. */
const shared = new Map<string, Decoders>();

function sharedDecoders(options: DecoderOptions): Decoders {
  const key = JSON.stringify(options);
  const opened = shared.get(key) ?? (key === '{}' ? sharedMedia().decoders : openDecoders(options));
  shared.set(key, opened);
  return opened;
}

/** Renders files in a directory that is removed after the test file, in this process or in decoders with these options. */
export function openStudio(options: DecoderOptions = {}) {
  const root = mkdtemp(join(tmpdir(), 'vitrine-stills-'));
  let count = 0;
  let own: Decoders | undefined;
  const decoders = () => {
    if (options.limits === undefined) return sharedDecoders(options);
    own ??= openDecoders(options);
    return own;
  };
  afterAll(async () => {
    await own?.close();
    await rm(await root, { recursive: true, force: true });
  });
  /** Writes the bytes to a file without an extension, next to an empty directory. */
  const place = async (bytes: Uint8Array) => {
    count += 1;
    const path = join(await root, `${count}`);
    const outDir = `${path}-out`;
    await writeFile(path, bytes);
    await mkdir(outDir);
    return { path, outDir };
  };
  /** Renders in a decoder process, by default as the type that the bytes have. */
  const decode = async (bytes: Uint8Array, as?: string, rungs = largestRung) => {
    const { path, outDir } = await place(bytes);
    const mime = as ?? (await sniff(path)).mime;
    const input = { path, mime, rungs, outDir };
    return { mime, ...(await decoders().run(previewKind(mime), 'test', 'ladder', input)) };
  };
  return {
    place,
    decode,
    /** Renders in this process. */
    async render(bytes: Uint8Array, as?: string): Promise<Rendering> {
      const { path, outDir } = await place(bytes);
      return renderFile({ path, mime: as ?? (await sniff(path)).mime }, largestRung, outDir);
    },
    /** Makes the streams of a film or a sound in a decoder process. */
    async transcode(bytes: Uint8Array) {
      const { path, outDir } = await place(bytes);
      const input = { path, mime: (await sniff(path)).mime, outDir };
      return decoders().run('transcode', 'test', 'transcode', input);
    },
    /** Returns the outcome of a decoder process, with the reason or the limit that it reached. */
    async outcomeOf(bytes: Uint8Array, mime?: string): Promise<string> {
      try {
        const { ladder } = await decode(bytes, mime, largestRung);
        return ladder.outcome === 'rendered'
          ? 'rendered'
          : `${ladder.outcome}: ${saySentence('en', ladder.reason)}`;
      } catch (error) {
        if (error instanceof DecodingStopped) return `stopped: ${error.limit}`;
        throw error;
      }
    },
  };
}

/** Returns the picture of a successful rendering. */
export function pictureOf({ ladder }: Pick<Rendering, 'ladder'>) {
  if (ladder.outcome !== 'rendered')
    throw new Error(`${ladder.outcome}: ${saySentence('en', ladder.reason)}`);
  const largest = ladder.renditions.find(({ key }) => key === 'hires');
  if (largest === undefined) throw new Error('no largest rung');
  return { path: largest.path, width: ladder.width, height: ladder.height };
}

/** Returns the contents of a rendition outside the ladder; null if no rendition has this key. */
export async function extraOf({ extras }: Pick<Rendering, 'extras'>, key: string): Promise<Buffer | null> {
  const found = extras.find((extra) => extra.key === key);
  return found === undefined ? null : readFile(found.path);
}

/** Returns all samples of the pixel at a position given as fractions of the width and height. */
export async function colourAt(picture: string | Buffer | undefined, x = 0.5, y = 0.5): Promise<number[]> {
  const { data, info } = await sharp(picture).raw().toBuffer({ resolveWithObject: true });
  const at = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
  return [...data.subarray(at, at + info.channels)];
}

export function expectColour(found: readonly number[], due: readonly number[], tolerance = 8): void {
  const off = due.map((level, index) => Math.abs(level - (found[index] ?? Number.NaN)));
  expect(Math.max(...off), `${found} instead of ${due}`).toBeLessThanOrEqual(tolerance);
}
