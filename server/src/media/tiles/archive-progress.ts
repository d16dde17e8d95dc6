import { type FileHandle, open } from 'node:fs/promises';

/** What each entry of a ZIP archive begins with. */
const HEADER = Buffer.from('PK\u0003\u0004', 'latin1');
const CHUNK_BYTES = 1024 ** 2;
const LOOK_EVERY_MS = 500;

/**
 * Counts the entries of a ZIP archive while libvips writes it, and passes their number to `onCount`. Libvips itself
 * reports no progress through sharp. Returns the function that stops it.
 */
export function watchEntries(archive: string, onCount: (count: number) => void): () => Promise<void> {
  let file: FileHandle | null = null;
  let at = 0;
  let count = 0;
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const look = async () => {
    file ??= await open(archive, 'r');
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
      const read = chunk.subarray(0, bytesRead);
      for (let found = read.indexOf(HEADER); found !== -1; found = read.indexOf(HEADER, found + 1))
        count += 1;
      // A header may continue in the bytes that follow.
      at += Math.max(0, bytesRead - (HEADER.length - 1));
      if (bytesRead < chunk.length) break;
    }
    onCount(count);
  };
  let looking: Promise<void> | null = null;
  const timer = setInterval(() => {
    // The archive does not exist at first, and progress is optional.
    looking ??= look()
      .catch(() => {})
      .finally(() => {
        looking = null;
      });
  }, LOOK_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await looking;
    await file?.close();
  };
}
