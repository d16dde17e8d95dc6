import { join } from 'node:path';
import { sentence } from '../../platform/language/sentence.ts';
import { rowConverter, spaceOfCodePoints } from '../colour/space.ts';
import { loadLibrary } from '../faults.ts';
import { checkShape, readAll, type Source, withSource } from '../source.ts';
import { BrokenFile, damagedHeader, type StillMaker } from '../still.ts';
import { heifColourOf } from './heif-properties.ts';
import { hasTransparency, rowsOfRgba } from './rgba.ts';
import { writeTiff } from './tiff-writer.ts';

/** Size limit; the file is decoded in memory together with its pixels. */
const MOST_BYTES = 512 * 1024 ** 2;

/** The part of libheif-js that is used; the package has no types. */
interface HeifImage {
  get_width(): number;
  get_height(): number;
  is_primary(): boolean;
  display(
    target: { data: Uint8ClampedArray; width: number; height: number },
    done: (displayed: { data: Uint8ClampedArray } | null) => void,
  ): void;
  free(): void;
}
interface LibHeif {
  ready: Promise<unknown>;
  HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] };
}

async function decode(bytes: Buffer): Promise<{ width: number; height: number; pixels: Uint8ClampedArray }> {
  // The type is ours (see LibHeif), because the package has none for its bundle.
  const libheif = await loadLibrary('libheif', async () => {
    const loaded = (await import('libheif-js/wasm-bundle.js' as string)) as { default: LibHeif };
    await loaded.default.ready;
    return loaded.default;
  });
  const images = new libheif.HeifDecoder().decode(bytes);
  const image = images.find((candidate) => candidate.is_primary()) ?? images[0];
  if (image === undefined) throw new BrokenFile(sentence('it has no picture that can be decoded'));
  const [width, height] = [image.get_width(), image.get_height()];
  checkShape(width, height);
  const target = { data: new Uint8ClampedArray(width * height * 4), width, height };
  const displayed = await new Promise<{ data: Uint8ClampedArray } | null>((resolve) => {
    image.display(target, resolve);
  });
  for (const loaded of images) loaded.free();
  if (displayed === null) throw new BrokenFile(sentence('its pixels cannot be decoded'));
  return { width, height, pixels: displayed.data };
}

function checkBrand(source: Source): void {
  if (source.readUpTo(4, 4).toString('latin1') !== 'ftyp') throw damagedHeader('no HEIF header');
}

/**
 * Makes a picture of the primary image of a HEIC or HEIF file, rotated and cropped as the file specifies, with its
 * profile, or converted to sRGB if it has none.
 */
export const heif: StillMaker = ({ path }, outDir) =>
  withSource(path, async (source) => {
    checkBrand(source);
    const bytes = readAll(source, MOST_BYTES);
    const { width, height, pixels } = await decode(bytes);
    const alpha = hasTransparency(pixels);
    const { profile, points } = heifColourOf(bytes);
    const space = profile === null && points !== null ? spaceOfCodePoints(points) : null;
    const convert = space === null ? null : rowConverter(space, 255);
    const rows = function* () {
      for (const row of rowsOfRgba(pixels, width, height, alpha)) yield convert?.(row, alpha ? 4 : 3) ?? row;
    };
    const picture = { path: join(outDir, 'still.tiff'), mime: 'image/tiff' };
    writeTiff(picture.path, { width, height, model: 'rgb', alpha, profile }, rows());
    return { picture };
  });
