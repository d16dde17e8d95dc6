/** The length of the header of a PMTiles archive of version 3. */
const HEADER = 127;

/** The number of JPEG among the types of tiles. */
const JPEG = 3;

/** Returns a number in groups of seven bits, the lowest first. */
function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

/** Returns a PMTiles archive without compression, with one tile of the whole world. */
export function mapOf(jpeg: Uint8Array, metadata: object): Buffer {
  // One entry: the first tile, repeated once, of this length, at the beginning of the tiles.
  const directory = Buffer.from([1, 0, 1, ...varint(jpeg.length), 1]);
  const about = Buffer.from(JSON.stringify(metadata));
  const header = Buffer.alloc(HEADER);
  header.write('PMTiles');
  header.writeUInt8(3, 7);
  const metadataAt = HEADER + directory.length;
  const tilesAt = metadataAt + about.length;
  const numbers = [
    HEADER,
    directory.length,
    metadataAt,
    about.length,
    tilesAt,
    0,
    tilesAt,
    jpeg.length,
    1,
    1,
    1,
  ];
  numbers.forEach((value, at) => {
    header.writeBigUInt64LE(BigInt(value), 8 + 8 * at);
  });
  // Clustered, neither the directory nor the tiles are compressed, JPEG.
  header.set([1, 1, 1, JPEG], 96);
  [-180, -85, 180, 85].forEach((degrees, at) => {
    header.writeInt32LE(degrees * 1e7, 102 + 4 * at);
  });
  return Buffer.concat([header, directory, about, jpeg]);
}
