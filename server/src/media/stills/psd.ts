import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { checkShape, type Source, withSource } from '../source.ts';
import {
  damagedHeader,
  damagedPixels,
  NotDrawable,
  type Still,
  type StillMaker,
  unreadablePixels,
} from '../still.ts';
import { type TiffLayout, writeTiff } from './tiff-writer.ts';
import { labToSrgb, srgb } from './tone.ts';

/**
 * Photoshop documents. The composite is read by our own code, because ag-psd loads all layers into memory and refuses
 * CMYK and Lab. A document of many gigabytes stores its composite at its end, as plain or run-length encoded rows.
 */

interface Header {
  /** Whether it is a PSB, whose length fields are wider. */
  large: boolean;
  channels: number;
  width: number;
  height: number;
  depth: number;
  mode: number;
}

const BITMAP = 0;
const INDEXED = 2;

/** How the composite of each colour mode is stored; duotones contain a grey picture. */
const LAB = 9;

const models = new Map<number, TiffLayout['model']>([
  [BITMAP, 'grey'],
  [1, 'grey'],
  [INDEXED, 'rgb'],
  [3, 'rgb'],
  [4, 'cmyk'],
  [8, 'grey'],
  [LAB, 'rgb'],
]);

const colours = { grey: 1, rgb: 3, cmyk: 4 } as const;

function readHeader(source: Source): Header {
  const bytes = source.read(0, 26);
  const version = bytes.readUInt16BE(4);
  if (bytes.toString('latin1', 0, 4) !== '8BPS' || (version !== 1 && version !== 2)) {
    throw damagedHeader('no Photoshop header');
  }
  const header = {
    large: version === 2,
    channels: bytes.readUInt16BE(12),
    height: bytes.readUInt32BE(14),
    width: bytes.readUInt32BE(18),
    depth: bytes.readUInt16BE(22),
    mode: bytes.readUInt16BE(24),
  };
  checkShape(header.width, header.height);
  if (header.channels < 1 || header.channels > 56) throw damagedHeader('impossible channels');
  if (![1, 8, 16, 32].includes(header.depth)) throw damagedHeader('impossible depth');
  return header;
}

/** Returns the offsets of the sections after the header. */
function sectionsOf(source: Source, { large }: Header) {
  const palette = 26 + 4;
  const resources = palette + source.read(26, 4).readUInt32BE() + 4;
  const layers = resources + source.read(resources - 4, 4).readUInt32BE();
  const lengthBytes = large ? 8 : 4;
  const length = source.read(layers, lengthBytes);
  const layersEnd = layers + lengthBytes + (large ? Number(length.readBigUInt64BE()) : length.readUInt32BE());
  return { palette, resources, resourcesEnd: layers, layers: layers + lengthBytes, composite: layersEnd };
}

const THUMBNAIL = 1036;
const PROFILE = 1039;
const VERSION_INFO = 1057;

/**
 * Returns the image resources that are used, by number. Ignores anything unreadable after them, as Photoshop does.
 */
function resourcesOf(source: Source, from: number, to: number): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let at = from; at + 12 <= to; ) {
    const head = source.readUpTo(at, 7);
    if (head.length < 7 || head.toString('latin1', 0, 4) !== '8BIM') break;
    const id = head.readUInt16BE(4);
    const name = 1 + (head[6] ?? 0);
    const sizeAt = at + 6 + name + (name & 1);
    const size = source.readUpTo(sizeAt, 4);
    if (size.length < 4) break;
    const length = size.readUInt32BE();
    if ([THUMBNAIL, PROFILE, VERSION_INFO].includes(id) && sizeAt + 4 + length <= to) {
      found.set(id, source.readUpTo(sizeAt + 4, length));
    }
    at = sizeAt + 4 + length + (length & 1);
  }
  return found;
}

/**
 * Returns whether the layer count is negative, which means that the first channel after the colours is the
 * composite's transparency.
 */
function isTransparent(source: Source, layers: number, { large }: Header): boolean {
  const count = source.readUpTo(layers + (large ? 8 : 4), 2);
  return count.length === 2 && count.readInt16BE() < 0;
}

/** Decodes PackBits up to the length of the row. */
function unpack(packed: Buffer, row: Buffer): void {
  let to = 0;
  for (let at = 0; at < packed.length && to < row.length; ) {
    const count = packed.readInt8(at);
    at += 1;
    if (count >= 0) {
      to += packed.copy(row, to, at, Math.min(at + count + 1, at + row.length - to));
      at += count + 1;
    } else if (count > -128) {
      row.fill(packed[at] ?? 0, to, Math.min(to + 1 - count, row.length));
      to += 1 - count;
      at += 1;
    }
  }
  if (to < row.length) throw damagedPixels('a row is too short');
}

/** Reads any row of any channel. */
type RowReader = (channel: number, row: number) => Buffer;

function rowReader(source: Source, at: number, { channels, height, width, depth, large }: Header): RowReader {
  const rowBytes = Math.ceil((width * depth) / 8);
  const compression = source.read(at, 2).readUInt16BE();
  const data = at + 2;
  if (compression === 0)
    return (channel, row) => source.read(data + (channel * height + row) * rowBytes, rowBytes);
  if (compression !== 1) throw unreadablePixels(`compression ${compression}`);
  const countBytes = large ? 4 : 2;
  const counts = source.read(data, channels * height * countBytes);
  const offsets = new Float64Array(channels * height + 1);
  offsets[0] = data + counts.length;
  for (let row = 0; row < channels * height; row += 1) {
    offsets[row + 1] = (offsets[row] ?? 0) + counts.readUIntBE(row * countBytes, countBytes);
  }
  return (channel, row) => {
    const index = channel * height + row;
    const from = offsets[index] ?? 0;
    const packed = source.read(from, (offsets[index + 1] ?? 0) - from);
    const bytes = Buffer.allocUnsafe(rowBytes);
    unpack(packed, bytes);
    return bytes;
  };
}

/** Returns one sample of a row as 8 or 16 bits. */
type SampleReader = (row: Buffer, x: number) => number;

function sampleReader({ depth }: Header): SampleReader {
  // A set bit is black.
  if (depth === 1) return (row, x) => (((row[x >> 3] ?? 0) >> (7 - (x & 7))) & 1 ? 0 : 255);
  // Samples of 32 bits are linear light in Photoshop.
  if (depth === 32) return (row, x) => srgb(row.readFloatBE(x * 4));
  return depth === 16 ? (row, x) => row.readUInt16BE(x * 2) : (row, x) => row[x] ?? 0;
}

/** Removes the white that Photoshop blends into the colours of a transparent composite. */
function unmatte(sample: number, alpha: number, most: number): number {
  if (alpha === 0) return sample;
  return Math.min(most, Math.max(0, Math.round(most + ((sample - most) * most) / alpha)));
}

interface Composite {
  header: Header;
  layout: TiffLayout;
  read: RowReader;
  palette: Buffer | null;
}

/** Converts the stored samples of a pixel to those of the TIFF. */
type Colour = (samples: number[], alpha: number) => void;

function colourOf({ header, layout, palette }: Composite): Colour {
  const most = layout.bits === 16 ? 65_535 : 255;
  if (palette !== null) {
    return (samples) => {
      const index = samples[0] ?? 0;
      for (let channel = 0; channel < 3; channel += 1) samples[channel] = palette[channel * 256 + index] ?? 0;
    };
  }
  if (header.mode === LAB) {
    const centre = (most + 1) / 2;
    return (samples) => {
      const [lightness = 0, a = 0, b = 0] = samples;
      const scale = 128 / centre;
      labToSrgb((lightness / most) * 100, (a - centre) * scale, (b - centre) * scale, most, samples);
    };
  }
  if (layout.model === 'cmyk') {
    // Ink is stored inverted, as light.
    return (samples) => {
      for (let channel = 0; channel < 4; channel += 1) samples[channel] = most - (samples[channel] ?? 0);
    };
  }
  return (samples, alpha) => {
    if (alpha === most) return;
    for (const [channel, sample] of samples.entries()) samples[channel] = unmatte(sample, alpha, most);
  };
}

/**
 * Interleaves rows of bytes, unchanged or inverted. Most documents need no more, and it is ten times as fast as the
 * general case.
 */
function* bandsOfBytes({ layout, read }: Composite) {
  const samples = colours[layout.model];
  const inverted = layout.model === 'cmyk' ? 255 : 0;
  for (let row = 0; row < layout.height; row += 1) {
    const band = new Uint8Array(layout.width * samples);
    for (let channel = 0; channel < samples; channel += 1) {
      const plane = read(channel, row);
      for (let x = 0; x < layout.width; x += 1) band[x * samples + channel] = (plane[x] ?? 0) ^ inverted;
    }
    yield band;
  }
}

function* bandsOf(composite: Composite) {
  const { header, layout, read, palette } = composite;
  const { width, height, model, alpha = false, bits = 8 } = layout;
  const sampleAt = sampleReader(header);
  const colour = colourOf(composite);
  const stored = palette === null ? colours[model] : 1;
  const written = colours[model] + (alpha ? 1 : 0);
  const samples: number[] = [];
  for (let row = 0; row < height; row += 1) {
    const planes = Array.from({ length: stored }, (_, channel) => read(channel, row));
    const cover = alpha ? read(stored, row) : null;
    const band = bits === 16 ? new Uint16Array(width * written) : new Uint8Array(width * written);
    for (let x = 0; x < width; x += 1) {
      samples.length = 0;
      for (const plane of planes) samples.push(sampleAt(plane, x));
      const opacity = cover === null ? null : sampleAt(cover, x);
      colour(samples, opacity ?? (bits === 16 ? 65_535 : 255));
      if (opacity !== null) samples.push(opacity);
      band.set(samples, x * written);
    }
    yield new Uint8Array(band.buffer);
  }
}

/** Returns the JPEG thumbnail that Photoshop stores for file browsers after a header of 28 bytes. */
async function thumbnailOf(resources: Map<number, Buffer>, outDir: string): Promise<Still['picture']> {
  const thumbnail = resources.get(THUMBNAIL);
  if (thumbnail === undefined || thumbnail.length < 32 || thumbnail.readUInt32BE(0) !== 1) return null;
  const path = join(outDir, 'thumbnail.jpg');
  await writeFile(path, thumbnail.subarray(28));
  return { path, mime: 'image/jpeg' };
}

function compositeOf(source: Source, header: Header, profile: Buffer | null): Composite {
  const sections = sectionsOf(source, header);
  const { channels, width, height, depth, mode } = header;
  const model = models.get(mode);
  if (model === undefined || channels < (mode === INDEXED ? 1 : colours[model])) {
    throw unreadablePixels('colour mode');
  }
  const palette = mode === INDEXED ? source.read(sections.palette, 768) : null;
  const alpha =
    channels > colours[model] &&
    mode !== LAB &&
    model !== 'cmyk' &&
    palette === null &&
    isTransparent(source, sections.layers, header);
  const bits = depth === 16 ? 16 : 8;
  const layout: TiffLayout = {
    width,
    height,
    model,
    alpha,
    bits,
    profile: depth === 32 || mode === LAB ? null : profile,
  };
  return { header, layout, read: rowReader(source, sections.composite, header), palette };
}

/**
 * Makes a picture of the composite of a PSD or PSB with its profile, or of the embedded thumbnail if the document was
 * saved without a composite.
 */
export const psd: StillMaker = ({ path }, outDir) =>
  withSource(path, async (source) => {
    const header = readHeader(source);
    const { width, height } = header;
    const sections = sectionsOf(source, header);
    const resources = resourcesOf(source, sections.resources, sections.resourcesEnd);
    const instead = async (reason: Sentence) => {
      const picture = await thumbnailOf(resources, outDir);
      if (picture === null) throw new NotDrawable(reason);
      return { picture, shape: { width, height } };
    };
    if (resources.get(VERSION_INFO)?.[4] === 0)
      return instead(sentence('it was saved without its composite'));
    try {
      const picture = { path: join(outDir, 'still.tiff'), mime: 'image/tiff' };
      const composite = compositeOf(source, header, resources.get(PROFILE) ?? null);
      const { layout, palette } = composite;
      const asStored = header.depth === 8 && header.mode !== LAB && palette === null && layout.alpha !== true;
      writeTiff(picture.path, layout, asStored ? bandsOfBytes(composite) : bandsOf(composite));
      return { picture };
    } catch (error) {
      if (error instanceof NotDrawable) return instead(error.sentence);
      throw error;
    }
  });
