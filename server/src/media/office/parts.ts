import { openPromise } from 'yauzl';
import { isFaultOfTheMachine } from '../faults.ts';
import { BrokenFile } from '../stills/still.ts';

/** Maximum number of package entries read; a document of a thousand slides has fewer. */
const MOST_ENTRIES = 20_000;
/** Maximum unpacked size of one part, and of all parts together, in bytes. */
const MOST_PART = 32 * 1024 ** 2;
const MOST_TOGETHER = 64 * 1024 ** 2;

/**
 * Returns the requested parts of a ZIP package, unpacked. Leaves out parts beyond the size limits, regardless of the
 * sizes that the directory declares. Throws BrokenFile for a damaged package.
 */
export async function readParts(
  path: string,
  isWanted: (name: string) => boolean,
): Promise<Map<string, Buffer>> {
  const parts = new Map<string, Buffer>();
  let [entries, together] = [0, 0];
  try {
    const zip = await openPromise(path, { lazyEntries: true, autoClose: false });
    try {
      for await (const entry of zip.eachEntry()) {
        entries += 1;
        if (entries > MOST_ENTRIES) break;
        if (!isWanted(entry.fileName) || entry.uncompressedSize > MOST_PART) continue;
        if (together + entry.uncompressedSize > MOST_TOGETHER) continue;
        const chunks: Buffer[] = [];
        // The library refuses an entry that is longer than declared while it is read.
        for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk);
        const part = Buffer.concat(chunks);
        together += part.length;
        parts.set(entry.fileName, part);
      }
    } finally {
      zip.close();
    }
  } catch (error) {
    if (isFaultOfTheMachine(error)) throw error;
    throw new BrokenFile('the document is damaged', { cause: error });
  }
  return parts;
}
