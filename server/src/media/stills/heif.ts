import { join } from 'node:path';
import { loadLibrary } from '../faults.ts';
import { hasTransparency, rowsOfRgba } from './rgba.ts';
import { checkShape, readAll, type Source, withSource } from './source.ts';
import { BrokenFile, NotDrawable, type StillMaker } from './still.ts';
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

/** Display P3 in the colour primaries of ISO/IEC 23091-2. */
const DISPLAY_P3 = 12;

/** Boxes that contain image properties, with the number of bytes before their first child. */
const containers = new Map([
  ['meta', 4],
  ['iprp', 0],
  ['ipco', 0],
]);

/** Returns the payloads of the boxes of this type among the image properties. */
function propertiesOf(bytes: Buffer, type: string, from = 0, to = bytes.length): Buffer[] {
  const found: Buffer[] = [];
  for (let at = from; at + 8 <= to; ) {
    const size = bytes.readUInt32BE(at);
    const name = bytes.toString('latin1', at + 4, at + 8);
    const end = size === 0 ? to : at + size;
    if (size === 1 || end < at + 8 || end > to) break;
    const skipped = containers.get(name);
    if (skipped !== undefined) found.push(...propertiesOf(bytes, type, at + 8 + skipped, end));
    else if (name === type) found.push(bytes.subarray(at + 8, end));
    at = end;
  }
  return found;
}

/** Returns the ICC profile of the picture, or that of Display P3 if the file only names these primaries. */
async function profileOf(bytes: Buffer): Promise<Buffer | null> {
  const colours = propertiesOf(bytes, 'colr');
  const kindOf = (colour: Buffer) => colour.toString('latin1', 0, 4);
  const profile = colours.find((colour) => kindOf(colour) === 'prof' || kindOf(colour) === 'rICC');
  if (profile !== undefined) return profile.subarray(4);
  const named = colours.find((colour) => kindOf(colour) === 'nclx' && colour.length >= 6);
  if (named?.readUInt16BE(4) !== DISPLAY_P3) return null;
  const { sharp } = await import('../tuned-sharp.ts');
  const pixel = { create: { width: 1, height: 1, channels: 3, background: 'white' } } as const;
  const { icc } = await sharp(await sharp(pixel).withIccProfile('p3').png().toBuffer()).metadata();
  return icc ?? null;
}

async function decode(bytes: Buffer): Promise<{ width: number; height: number; pixels: Uint8ClampedArray }> {
  // The type is ours (see LibHeif), because the package has none for its bundle.
  const libheif = await loadLibrary('libheif', async () => {
    const loaded = (await import('libheif-js/wasm-bundle.js' as string)) as { default: LibHeif };
    await loaded.default.ready;
    return loaded.default;
  });
  const images = new libheif.HeifDecoder().decode(bytes);
  const image = images.find((one) => one.is_primary()) ?? images[0];
  if (image === undefined) throw new BrokenFile('it has no image that can be read');
  const [width, height] = [image.get_width(), image.get_height()];
  checkShape(width, height);
  const target = { data: new Uint8ClampedArray(width * height * 4), width, height };
  const displayed = await new Promise<{ data: Uint8ClampedArray } | null>((resolve) => {
    image.display(target, resolve);
  });
  for (const one of images) one.free();
  if (displayed === null) throw new BrokenFile('its image cannot be decoded');
  return { width, height, pixels: displayed.data };
}

function checkBrand(source: Source): void {
  if (source.readUpTo(4, 4).toString('latin1') !== 'ftyp') throw new NotDrawable('it is no HEIF file');
}

/**
 * Makes a picture of the primary image of a HEIC or HEIF file, rotated and cropped as the file specifies, with its
 * profile.
 */
export const heif: StillMaker = ({ path }, outDir) =>
  withSource(path, async (source) => {
    checkBrand(source);
    const bytes = readAll(source, MOST_BYTES);
    const { width, height, pixels } = await decode(bytes);
    const alpha = hasTransparency(pixels);
    const profile = await profileOf(bytes);
    const picture = { path: join(outDir, 'still.tiff'), mime: 'image/tiff' };
    writeTiff(
      picture.path,
      { width, height, model: 'rgb', alpha, profile },
      rowsOfRgba(pixels, width, height, alpha),
    );
    return { picture };
  });
