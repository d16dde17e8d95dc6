/**
 * A pack is one file that holds all tiles of a picture: first the offset of each tile, then their bytes. The offsets stand in
 * the order of `tileIndex` as 64-bit numbers, little-endian, with the end of the last tile behind them. A tile is thus read
 * with two small reads, wherever the file is stored.
 */

/** The key of a picture's pack among its renditions. It is served tile by tile, never as a whole. */
export const TILES = 'tiles';

/** Bytes of an offset. */
const OFFSET = 8;

/** The bytes of a pack that tell where a tile stands. */
export function placeOf(index: number): { start: number; end: number } {
  return { start: index * OFFSET, end: (index + 2) * OFFSET - 1 };
}

/** Reads what stands at `placeOf`: the first and the last byte of the tile. */
export function readPlace(bytes: Buffer): { start: number; end: number } {
  return { start: Number(bytes.readBigUInt64LE(0)), end: Number(bytes.readBigUInt64LE(OFFSET)) - 1 };
}

/** The beginning of a pack whose tiles have these lengths, and how long all of it is. */
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
