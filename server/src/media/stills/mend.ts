import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, crc32, deflateSync, inflateRawSync } from 'node:zlib';
import { isFaultOfTheMachine } from '../faults.ts';
import { readAll, withSource } from '../source.ts';
import { nullIfBroken } from '../still.ts';
import { sharp } from '../tuned-sharp.ts';
import { drawTiff, isDrawn } from './tiff.ts';

/** A larger file is not mended, because it is read into memory. */
const MOST_BYTES = 256 * 1024 ** 2;
/** A larger picture is not mended, because its pixels are compared. */
const MOST_PIXELS = 100_000_000;

const END_OF_JPEG = Buffer.from([0xff, 0xd9]);

/** Returns a hash of the pixels of a JPEG, as far as they can be decoded. */
async function pixelsOf(jpeg: Buffer): Promise<string> {
  const pixels = await sharp(jpeg, { failOn: 'none', limitInputPixels: MOST_PIXELS }).raw().toBuffer();
  return createHash('sha1').update(pixels).digest('hex');
}

/**
 * Adds the end marker to a JPEG that has all of its pixels. Bytes before the marker do not change those; if pixels are
 * missing, they are taken for them.
 */
async function mendJpeg(jpeg: Buffer): Promise<Buffer | null> {
  const cut = jpeg.at(-1) === 0xff ? jpeg.subarray(0, -1) : jpeg;
  const whole = Buffer.concat([cut, END_OF_JPEG]);
  const filled = Buffer.concat([cut, Buffer.alloc(256, 0x55), END_OF_JPEG]);
  return (await pixelsOf(whole)) === (await pixelsOf(filled)) ? whole : null;
}

/** Samples of each pixel, by the colour type of a PNG. */
const pngSamples: readonly number[] = [1, 0, 3, 1, 2, 0, 4];
/** The first column and row of each pass of an interlaced PNG, and the distances of its columns and rows. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Returns the number of bytes of the filtered rows of a PNG. */
function pngBytes(header: Buffer): number {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const bits = (header[8] ?? 0) * (pngSamples[header[9] ?? 0] ?? 0);
  const bytesOf = (columns: number, rows: number) =>
    columns === 0 ? 0 : rows * (1 + Math.ceil((columns * bits) / 8));
  if (header[12] !== 1) return bytesOf(width, height);
  return passes.reduce((sum, [x, y, dx, dy]) => {
    const columns = Math.max(0, Math.ceil((width - x) / dx));
    return sum + bytesOf(columns, Math.max(0, Math.ceil((height - y) / dy)));
  }, 0);
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** Compresses the pixels of a PNG anew, if they are all there: its stream may have a wrong checksum or window. */
function mendPng(png: Buffer): Buffer | null {
  const before: Buffer[] = [png.subarray(0, 8)];
  const packed: Buffer[] = [];
  for (let at = 8; at + 8 <= png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    const name = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, end);
    if (name === 'IDAT') packed.push(data);
    else if (packed.length === 0) before.push(chunk(name, data));
    at = end + 4;
  }
  if (png.toString('latin1', 12, 16) !== 'IHDR' || png.length < 33) return null;
  const due = pngBytes(png.subarray(16, 29));
  if (due > MOST_PIXELS * 8) return null;
  // The first two bytes are the header of zlib.
  const stream = Buffer.concat(packed).subarray(2);
  const pixels = inflateRawSync(stream, {
    finishFlush: constants.Z_SYNC_FLUSH,
    maxOutputLength: due + 1024,
  });
  if (due === 0 || pixels.length < due) return null;
  const again = deflateSync(pixels.subarray(0, due), { level: 1 });
  return Buffer.concat([...before, chunk('IDAT', again), chunk('IEND', Buffer.alloc(0))]);
}

/** Keeps the complete chunks of a WebP and corrects its length. */
function mendWebp(webp: Buffer): Buffer | null {
  let end = 12;
  for (let at = 12; at + 8 <= webp.length; at = end) {
    const next = at + 8 + webp.readUInt32LE(at + 4);
    if (next > webp.length) break;
    end = Math.min(webp.length, next + (next & 1));
  }
  const whole = Buffer.concat([webp.subarray(0, end), Buffer.alloc(end & 1)]);
  whole.writeUInt32LE(whole.length - 8, 4);
  return end > 20 ? whole : null;
}

/** Ends the last block of a GIF, and the file. */
function mendGif(gif: Buffer): Buffer {
  return Buffer.concat([gif, Buffer.from([0, 0x3b])]);
}

type Mender = (bytes: Buffer) => Buffer | null | Promise<Buffer | null>;

const menders: ReadonlyMap<string, Mender> = new Map<string, Mender>([
  ['image/jpeg', mendJpeg],
  ['image/png', mendPng],
  ['image/apng', mendPng],
  ['image/webp', mendWebp],
  ['image/gif', mendGif],
]);

/**
 * Writes a copy of a picture that libvips refuses although it has all of its pixels: its end is missing, a length or a
 * checksum in it is wrong, or it is a TIFF of a kind that only our own reader knows. Resolves to null if that is not what
 * is wrong with it. Rejects with NotDrawable if nobody reads it, and otherwise only on faults of the machine.
 */
export async function mend(
  { path, mime }: { path: string; mime: string },
  outDir: string,
): Promise<{ path: string; mime: string } | null> {
  if (mime === 'image/tiff') return isDrawn(path) ? null : nullIfBroken(drawTiff(path, outDir));
  const mender = menders.get(mime);
  if (mender === undefined) return null;
  try {
    const whole = await withSource(path, (source) => mender(readAll(source, MOST_BYTES)));
    if (whole === null) return null;
    const mended = join(outDir, 'mended');
    await writeFile(mended, whole);
    return { path: mended, mime };
  } catch (error) {
    if (isFaultOfTheMachine(error)) throw error;
    return null;
  }
}
