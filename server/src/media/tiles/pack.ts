import type { RenditionKey } from '@vitrine/contract/renditions';

/**
 * A pack is one file with all tiles of a picture: first the offset of each tile, then their bytes. The offsets are
 * 64-bit little-endian numbers in the order of `tileIndex`, followed by the end of the last tile. A tile thus takes
 * two small reads, independent of the storage.
 */

/** The rendition key of a picture's pack. Packs are served tile by tile, never as a whole. */
export const TILES = 'tiles' satisfies RenditionKey;

/** Size of an offset in bytes. */
const OFFSET = 8;

/** Returns the byte range of a pack that contains the position of a tile. */
export function placeOf(index: number): { start: number; end: number } {
  return { start: index * OFFSET, end: (index + 2) * OFFSET - 1 };
}

/** Parses the bytes at `placeOf` into the first and last byte of the tile. */
export function readPlace(bytes: Buffer): { start: number; end: number } {
  return { start: Number(bytes.readBigUInt64LE(0)), end: Number(bytes.readBigUInt64LE(OFFSET)) - 1 };
}

/** Returns the header of a pack whose tiles have these lengths, and the total length of the pack. */
export function packHead(lengths: readonly number[]): { head: Buffer; sizeBytes: number } {
  const head = Buffer.alloc((lengths.length + 1) * OFFSET);
  let end = head.length;
  for (const [index, length] of lengths.entries()) {
    head.writeBigUInt64LE(BigInt(end), index * OFFSET);
    end += length;
  }
  head.writeBigUInt64LE(BigInt(end), lengths.length * OFFSET);
  return { head, sizeBytes: end };
}
