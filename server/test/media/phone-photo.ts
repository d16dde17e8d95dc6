import { jpeg } from '../support/pictures.ts';
import { type Bytes, fileOf, numbers } from './binary.ts';

/** Returns a JPEG with the note of an iPhone that contains an identifier: of a live photo (0x11), or of a burst (0x0b). */
export async function ofPhone(identifier: string, seed = 1, tag = 0x11): Promise<Bytes> {
  const text = Buffer.from(`${identifier}\0`, 'latin1');
  // The note of Apple: its name, a version, the order of bytes, and one entry whose value follows.
  const note = Buffer.concat([
    Buffer.from('Apple iOS\0\0\x01MM', 'latin1'),
    numbers('HHHIII', 1, tag, 2, text.length, 32, 0),
    text,
  ]);
  const exif = Buffer.concat([
    Buffer.from('Exif\0\0MM\0\x2a', 'latin1'),
    numbers('I', 8),
    numbers('HHHIII', 1, 0x8769, 4, 1, 26, 0),
    numbers('HHHIII', 1, 0x927c, 7, note.length, 44, 0),
    note,
  ]);
  const plain = await jpeg(64, 48, { seed });
  return fileOf(plain.subarray(0, 2), numbers('HH', 0xffe1, exif.length + 2), exif, plain.subarray(2));
}
