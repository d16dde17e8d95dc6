import { openAsBlob } from 'node:fs';
import { BlobReader, type Entry, ZipReader } from '@zip.js/zip.js';

/**
 * Yields the entries in the directory of a ZIP archive without unpacking them. Accepts bytes before and after the
 * archive, as in self-extracting programs. Rejects if the directory is damaged.
 */
export async function* zipEntries(path: string): AsyncGenerator<Entry> {
  const zip = new ZipReader(new BlobReader(await openAsBlob(path)), {
    // Entries that claim impossible sizes are listed, too.
    strictness: 'tolerant',
    // Decoders are processes of their own already.
    useWebWorkers: false,
  });
  try {
    yield* zip.getEntriesGenerator();
  } finally {
    await zip.close();
  }
}
