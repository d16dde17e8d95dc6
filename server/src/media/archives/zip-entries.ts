import { type Entry, open, type ZipFile } from 'yauzl';

/** Returns the next entry, or null after the last. */
function nextEntry(zip: ZipFile): Promise<Entry | null> {
  return new Promise((resolve, reject) => {
    const done = () => {
      zip.off('entry', found);
      zip.off('end', ended);
      zip.off('error', failed);
    };
    const found = (entry: Entry) => {
      done();
      resolve(entry);
    };
    const ended = () => {
      done();
      resolve(null);
    };
    const failed = (error: Error) => {
      done();
      reject(error);
    };
    zip.on('entry', found);
    zip.on('end', ended);
    zip.on('error', failed);
    zip.readEntry();
  });
}

/**
 * Yields the entries in the directory of a ZIP archive without unpacking them. Their names are raw bytes
 * (`fileNameRaw`) in an unknown encoding. Rejects if the directory is damaged.
 */
export async function* zipEntries(path: string): AsyncGenerator<Entry> {
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false, validateEntrySizes: false };
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    open(path, options, (error, opened) => (error === null ? resolve(opened) : reject(error)));
  });
  try {
    for (let entry = await nextEntry(zip); entry !== null; entry = await nextEntry(zip)) yield entry;
  } finally {
    zip.close();
  }
}
