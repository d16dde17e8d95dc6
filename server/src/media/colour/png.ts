import type { Source } from '../source.ts';
import { type ColourSpace, type Primaries, spaceOfCodePoints, spaceOfGamma } from './space.ts';

/** More chunks than any PNG has before its pixels. */
const MOST_CHUNKS = 1000;

/** Returns the chunks of a PNG before its pixels, by name; the first of each. Reads at most 64 bytes of each. */
function chunksOf(source: Source): Map<string, Buffer> {
  const chunks = new Map<string, Buffer>();
  for (let at = 8, count = 0; count < MOST_CHUNKS; count += 1) {
    const head = source.readUpTo(at, 8);
    if (head.length < 8) break;
    const name = head.toString('latin1', 4, 8);
    if (name === 'IDAT') break;
    const length = head.readUInt32BE(0);
    if (!chunks.has(name)) chunks.set(name, source.readUpTo(at + 8, Math.min(length, 64)));
    at += 12 + length;
  }
  return chunks;
}

function primariesOf(chunk: Buffer | undefined): Primaries | null {
  if (chunk === undefined || chunk.length < 32) return null;
  const pair = (index: number): [number, number] => [
    chunk.readUInt32BE(index * 8) / 100_000,
    chunk.readUInt32BE(index * 8 + 4) / 100_000,
  ];
  return { white: pair(0), red: pair(1), green: pair(2), blue: pair(3) };
}

/**
 * Returns the colour space that a PNG describes otherwise than by an ICC profile, or null if it has none or another
 * description takes precedence: cICP, iCCP, sRGB, and gAMA with cHRM (PNG, 4.3). As in browsers, cHRM counts only
 * together with gAMA, and code points only with the full range.
 */
export function spaceOfPng(source: Source): ColourSpace | null {
  const chunks = chunksOf(source);
  const points = chunks.get('cICP');
  if (points?.length === 4 && points[2] === 0 && points[3] === 1) {
    return spaceOfCodePoints({ primaries: points[0] ?? 0, transfer: points[1] ?? 0 }, { asVideo: true });
  }
  if (chunks.has('iCCP') || chunks.has('sRGB')) return null;
  const gamma = chunks.get('gAMA');
  if (gamma?.length !== 4) return null;
  return spaceOfGamma(100_000 / gamma.readUInt32BE(0), primariesOf(chunks.get('cHRM')));
}
