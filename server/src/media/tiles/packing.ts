import { type FileHandle, open } from 'node:fs/promises';
import { zipEntries } from '../archives/zip-entries.ts';
import type { Shape } from '../ladder.ts';
import { countTiles, tileIndex } from './geometry.ts';
import { packHead } from './pack.ts';

interface Stored {
  at: number;
  length: number;
}

/**
 * Returns the position of each tile in the archive written by libvips, by tile index. The entries are uncompressed.
 */
async function readArchive(path: string, file: FileHandle, shape: Shape): Promise<Stored[]> {
  const tiles: Stored[] = [];
  const header = Buffer.alloc(30);
  for await (const entry of zipEntries(path)) {
    const [, level, column, row] = /_files\/(\d+)\/(\d+)_(\d+)\.\w+$/.exec(entry.filename) ?? [];
    if (level === undefined) continue;
    const index = tileIndex(shape, Number(level), Number(column), Number(row));
    if (index === null || entry.compressionMethod !== 0)
      throw new Error(`unexpected tile ${level}/${column}_${row}`);
    await file.read(header, 0, header.length, entry.offset);
    const dataAt = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
    tiles[index] = { at: dataAt, length: entry.uncompressedSize };
  }
  return tiles;
}

/** Converts the archive of tiles written by libvips to a pack at `to`. Returns the length of the pack in bytes. */
export async function packTiles(archive: string, shape: Shape, to: string): Promise<number> {
  const input = await open(archive, 'r');
  const output = await open(to, 'wx');
  try {
    const tiles = await readArchive(archive, input, shape);
    const missing = Array.from({ length: countTiles(shape) }).findIndex(
      (_, index) => tiles[index] === undefined,
    );
    if (missing !== -1) throw new Error(`tile ${missing} is missing`);
    const { head, sizeBytes } = packHead(tiles.map(({ length }) => length));
    await output.writeFile(head);
    for (const { at, length } of tiles) {
      const bytes = Buffer.allocUnsafe(length);
      await input.read(bytes, 0, length, at);
      await output.writeFile(bytes);
    }
    return sizeBytes;
  } finally {
    await input.close();
    await output.close();
  }
}
