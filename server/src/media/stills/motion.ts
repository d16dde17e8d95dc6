import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Source, withSource } from '../source.ts';
import { type MadeRendition, nullIfBroken } from '../still.ts';

/** The name of the rendition. */
const MOTION = 'motion.mp4';

/** Types of photographs behind which phones store a short film. */
export const photographs: readonly string[] = ['image/jpeg', 'image/heic', 'image/heif', 'image/avif'];

/** Size of the largest photograph that is searched. */
const MOST_BYTES = 512 * 1024 ** 2;
const CHUNK_BYTES = 1024 * 1024;
/** Number of boxes at the top of a film, more than any recording of a few seconds has. */
const MOST_BOXES = 10_000;

/** The bytes of a film in a file. */
interface Part {
  start: number;
  end: number;
}

/** Returns the film whose first box is here: it has a header and samples, and ends with its last valid box. */
function filmAt(source: Source, start: number): Part | null {
  const names = new Set<string>();
  let at = start;
  for (let count = 0; count < MOST_BOXES && at + 8 <= source.size; count += 1) {
    const head = source.readUpTo(at, 16);
    const name = head.toString('latin1', 4, 8);
    const short = head.readUInt32BE(0);
    const size =
      short === 1 && head.length === 16
        ? Number(head.readBigUInt64BE(8))
        : short === 0
          ? source.size - at
          : short;
    if (size < 8 || at + size > source.size || !/^[a-z0-9 ]{4}$/i.test(name)) break;
    names.add(name);
    at += size;
  }
  return names.has('moov') && (names.has('mdat') || names.has('moof')) ? { start, end: at } : null;
}

/** Returns the film that follows the picture in a file; null if there is none. */
function findFilm(source: Source): Part | null {
  if (source.size > MOST_BYTES) return null;
  // The first box of a HEIF file itself begins at 0.
  for (let base = 8; base < source.size; base += CHUNK_BYTES) {
    const chunk = source.readUpTo(base, CHUNK_BYTES + 3);
    for (let at = chunk.indexOf('ftyp'); at >= 0; at = chunk.indexOf('ftyp', at + 1)) {
      const film = base + at >= 12 ? filmAt(source, base + at - 4) : null;
      if (film !== null) return film;
    }
  }
  return null;
}

/** Returns whether a photograph contains a film. */
export async function hasFilm(path: string): Promise<boolean> {
  return (await nullIfBroken(withSource(path, findFilm))) !== null;
}

/** Writes the film of a motion photo to `outDir`; returns null for every other file. */
export async function cutFilm(
  { path, mime }: { path: string; mime: string },
  outDir: string,
): Promise<MadeRendition | null> {
  if (!photographs.includes(mime)) return null;
  const film = await nullIfBroken(withSource(path, findFilm));
  if (film === null) return null;
  const to = join(outDir, MOTION);
  await pipeline(createReadStream(path, { start: film.start, end: film.end - 1 }), createWriteStream(to));
  return { key: MOTION, path: to, contentType: 'video/mp4', sizeBytes: (await stat(to)).size };
}
