import { open } from 'node:fs/promises';

/** TIFF tags that distinguish a camera's raw file from a picture. */
const NEW_SUBFILE_TYPE = 254;
const PHOTOMETRIC = 262;
const SUB_DIRECTORIES = 330;
const DNG_VERSION = 50_706;

/** Photometric interpretations of sensor data: a colour filter array and its linear form. */
const sensorData = new Set([32_803, 34_892]);

/** More directory entries than any camera writes. */
const MAX_ENTRIES = 512;

/**
 * Returns whether a file that starts like a TIFF is a camera's raw file. libvips opens such a file as a TIFF, but
 * draws only a thumbnail or garbage.
 */
export async function isCameraRaw(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const header = Buffer.alloc(8);
    if ((await file.read(header, 0, 8, 0)).bytesRead < 8) return false;
    const little = header.toString('latin1', 0, 2) === 'II';
    const short = (from: Buffer, at: number) => (little ? from.readUInt16LE(at) : from.readUInt16BE(at));
    const long = (from: Buffer, at: number) => (little ? from.readUInt32LE(at) : from.readUInt32BE(at));
    if (short(header, 2) !== 42) return false;
    const directory = Buffer.alloc(2 + MAX_ENTRIES * 12);
    const { bytesRead } = await file.read(directory, 0, directory.length, long(header, 4));
    const entries = bytesRead < 2 ? 0 : Math.min(short(directory, 0), Math.floor((bytesRead - 2) / 12));
    const values = new Map<number, number>();
    for (let entry = 0; entry < entries; entry += 1) {
      const at = 2 + entry * 12;
      const isShort = short(directory, at + 2) === 3;
      values.set(short(directory, at), isShort ? short(directory, at + 8) : long(directory, at + 8));
    }
    const reduced = ((values.get(NEW_SUBFILE_TYPE) ?? 0) & 1) === 1;
    return (
      values.has(DNG_VERSION) ||
      sensorData.has(values.get(PHOTOMETRIC) ?? 0) ||
      // Only cameras store a small preview in the first directory and the picture in a subdirectory.
      (reduced && values.has(SUB_DIRECTORIES))
    );
  } finally {
    await file.close();
  }
}
