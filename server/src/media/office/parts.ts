import type { FileEntry } from '@zip.js/zip.js';
import { sentence } from '../../platform/language/sentence.ts';
import { zipEntries } from '../archives/zip-entries.ts';
import { isFaultOfTheMachine } from '../faults.ts';
import { BrokenFile, NotDrawable } from '../still.ts';

/** Maximum number of package entries read; a document of a thousand slides has fewer. */
const MOST_ENTRIES = 20_000;
/** Maximum unpacked size of one part, and of all parts together, in bytes. */
const MOST_PART = 32 * 1024 ** 2;
const MOST_TOGETHER = 64 * 1024 ** 2;

/** Unpacks a part; returns null if it has more bytes than `most`, whatever size it declares. */
async function unpack(entry: FileEntry, most: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const tooLarge = new Error('the part is too large');
  const write = (chunk: Uint8Array) => {
    size += chunk.length;
    if (size > most) throw tooLarge;
    chunks.push(chunk);
  };
  try {
    await entry.getData(new WritableStream({ write }));
    return Buffer.concat(chunks);
  } catch (error) {
    if (size > most) return null;
    throw error;
  }
}

/**
 * Returns the requested parts of a ZIP package, unpacked. Leaves out parts beyond the size limits, regardless of the
 * sizes that the directory declares. Throws BrokenFile for a damaged package, and NotDrawable for an encrypted one.
 */
export async function readParts(
  path: string,
  isWanted: (name: string) => boolean,
): Promise<Map<string, Buffer>> {
  const parts = new Map<string, Buffer>();
  let [entries, together] = [0, 0];
  try {
    for await (const entry of zipEntries(path)) {
      entries += 1;
      if (entries > MOST_ENTRIES) break;
      if (entry.directory || !isWanted(entry.filename)) continue;
      if (entry.encrypted) throw new NotDrawable(sentence('the document is encrypted'));
      const part = await unpack(entry, Math.min(MOST_PART, MOST_TOGETHER - together));
      if (part === null) continue;
      together += part.length;
      parts.set(entry.filename, part);
    }
  } catch (error) {
    if (error instanceof NotDrawable || isFaultOfTheMachine(error)) throw error;
    throw new BrokenFile(sentence('the document is damaged'), { cause: error });
  }
  return parts;
}
