import { crc32 } from 'node:zlib';
import { type Bytes, fileOf, uint32 } from './binary.ts';

/** A chunk of a PNG: its name, its data, and whether its checksum is wrong. */
export type Chunk = readonly [name: string, data: Uint8Array, isWrong?: boolean];

/** Returns the chunks of a PNG. */
export function chunksOf(png: Uint8Array): Chunk[] {
  const bytes = Buffer.from(png);
  const chunks: Chunk[] = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const data = bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at));
    chunks.push([bytes.toString('latin1', at + 4, at + 8), data]);
  }
  return chunks;
}

/** Makes a PNG of chunks. */
export function pngOf(chunks: readonly Chunk[]): Bytes {
  const parts = chunks.map(([name, data, isWrong = false]) => {
    const body = fileOf(name, data);
    return fileOf(uint32(data.length), body, uint32(crc32(body) ^ Number(isWrong)));
  });
  return fileOf(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts);
}

/** The PNG with these chunks after its header. */
export function withChunks(png: Uint8Array, ...added: readonly Chunk[]): Bytes {
  const [header, ...others] = chunksOf(png);
  return pngOf([...(header === undefined ? [] : [header]), ...added, ...others]);
}
