import { execFile } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { sentence } from '../../platform/language/sentence.ts';
import { readExif } from '../exif.ts';
import { type Source, withSource } from '../source.ts';
import { NotDrawable, type Still, type StillMaker } from '../still.ts';

/** A JPEG embedded in another file. */
interface Embedded {
  at: number;
  end: number;
  width: number;
  height: number;
  /** Whether it contains its own orientation. */
  oriented: boolean;
}

/** Number of bytes searched at a time, and their overlap with the next search. */
const WINDOW = 8 * 1024 ** 2;
const OVERLAP = 16;

/** More pictures than any camera embeds. */
const MOST_PICTURES = 200;

/**
 * JPEG frame types that libvips decodes: baseline, extended and progressive. Sensor data is often lossless JPEG,
 * which is excluded.
 */
const drawnFrames = new Set([0xc0, 0xc1, 0xc2]);

/** Yields the offsets of a byte sequence in a file, in order. */
function* find(source: Source, bytes: Buffer, from: number): Generator<number> {
  for (let start = from; start < source.size; start += WINDOW - OVERLAP) {
    const window = source.readUpTo(start, WINDOW);
    const newTo = start + WINDOW - OVERLAP;
    for (let at = window.indexOf(bytes); at !== -1; at = window.indexOf(bytes, at + 1)) {
      if (start + at < newTo) yield start + at;
    }
  }
}

const START = Buffer.from([0xff, 0xd8, 0xff]);
const END = Buffer.from([0xff, 0xd9]);

/** Reads the segments of a JPEG at this offset; returns null if it cannot be drawn. */
function readEmbedded(source: Source, start: number): Embedded | null {
  let shape: { width: number; height: number } | null = null;
  let oriented = false;
  for (let at = start + 2; ; ) {
    const head = source.readUpTo(at, 16);
    if (head.length < 4 || head[0] !== 0xff) return null;
    const marker = head[1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const length = head.readUInt16BE(2);
    if (marker === 0xda) {
      if (shape === null) return null;
      // Entropy-coded data never contains the end marker.
      for (const end of find(source, END, at)) return { at: start, end: end + 2, ...shape, oriented };
      return null;
    }
    if (length < 2 || marker < 0xc0) return null;
    if (marker === 0xe1 && head.toString('latin1', 4, 8) === 'Exif') {
      oriented = hasOrientation(source.readUpTo(at + 10, Math.min(length - 8, 65_535)));
    }
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      if (!drawnFrames.has(marker) || head.length < 9) return null;
      shape = { height: head.readUInt16BE(5), width: head.readUInt16BE(7) };
      if (shape.width === 0 || shape.height === 0) return null;
    }
    at += 2 + length;
  }
}

const ORIENTATION = 274;

/** Returns whether the first EXIF directory has an orientation. */
function hasOrientation(exif: Buffer): boolean {
  if (exif.length < 14) return false;
  const little = exif.toString('latin1', 0, 2) === 'II';
  const short = (at: number) => (little ? exif.readUInt16LE(at) : exif.readUInt16BE(at));
  const directory = little ? exif.readUInt32LE(4) : exif.readUInt32BE(4);
  if (directory + 2 > exif.length) return false;
  for (let entry = 0; entry < short(directory); entry += 1) {
    const at = directory + 2 + entry * 12;
    if (at + 12 > exif.length) return false;
    if (short(at) === ORIENTATION) return true;
  }
  return false;
}

/** Returns the largest JPEG in a file, independent of the camera's format. */
function largestEmbedded(source: Source): Embedded | null {
  let best: Embedded | null = null;
  let seen = 0;
  let past = 0;
  for (const at of find(source, START, 0)) {
    if (at < past) continue;
    seen += 1;
    if (seen > MOST_PICTURES) break;
    const found = readEmbedded(source, at);
    if (found === null) continue;
    past = found.end;
    if (best === null || found.width * found.height > best.width * best.height) best = found;
  }
  return best;
}

/** Returns an EXIF segment that contains only an orientation. */
function orientationSegment(orientation: number): Buffer {
  const tiff = Buffer.from('MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0', 'latin1');
  tiff.writeUInt16BE(orientation, 18);
  const body = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([head, body]);
}

/** Copies an embedded JPEG to `to`. Adds the camera's orientation unless the JPEG contains one. */
function extract(source: Source, { at, end, oriented }: Embedded, orientation: number, to: string): void {
  const fd = openSync(to, 'wx');
  try {
    writeSync(fd, source.read(at, 2));
    if (!oriented && orientation > 1) writeSync(fd, orientationSegment(orientation));
    for (let from = at + 2; from < end; from += WINDOW) {
      const bytes = source.read(from, Math.min(WINDOW, end - from));
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    }
  } finally {
    closeSync(fd);
  }
}

/** A preview with at least this edge fills a screen, and shows what the photographer saw. */
const USABLE_EDGE = 1000;

/** LibRaw's program that develops sensor data, if it is installed. */
async function developer(): Promise<string | null> {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const program = join(directory, 'dcraw_emu');
    const isThere = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (directory !== '' && isThere) return program;
  }
  return null;
}

/** Develops a raw file with the camera's white balance, upright and in sRGB; returns null if LibRaw fails. */
async function develop(program: string, path: string, outDir: string): Promise<Still['picture']> {
  const to = join(outDir, 'developed.tiff');
  try {
    // The time and memory limits of our own process group apply; the program ends with it.
    await promisify(execFile)(program, ['-T', '-w', '-o', '1', '-Z', to, path]);
    await access(to);
    return { path: to, mime: 'image/tiff' };
  } catch {
    return null;
  }
}

/**
 * Makes a picture of a camera's raw file from the largest embedded JPEG. If none fills a screen and LibRaw is
 * installed, develops the sensor data.
 */
export const camera: StillMaker = ({ path }, outDir) =>
  withSource(path, async (source) => {
    const embedded = largestEmbedded(source);
    const usable = embedded !== null && Math.max(embedded.width, embedded.height) >= USABLE_EDGE;
    const program = usable ? null : await developer();
    const developed = program === null ? null : await develop(program, path, outDir);
    if (developed !== null) return { picture: developed };
    if (embedded === null)
      throw new NotDrawable(sentence('it has no preview, and no program that develops it is installed'));
    const { orientation = 1 } = await readExif(path);
    const picture = { path: join(outDir, 'embedded.jpg'), mime: 'image/jpeg' };
    extract(source, embedded, orientation, picture.path);
    return { picture };
  });
