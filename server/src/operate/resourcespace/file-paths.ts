import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';

/** Where the files of an installation are. */
export interface FileStore {
  root: string;
  /** The folder of StaticSync; null if it was not given. */
  syncdir: string | null;
  scrambleKey: string;
}

/** A way in which ResourceSpace names its files. */
export interface Layout {
  isEvenSpread: boolean;
  key: string;
  folder: string;
}

const hash = (text: string) => createHash('md5').update(text).digest('hex').slice(0, 15);

/** A file of a resource, or an alternative file. */
interface FileName {
  ref: number;
  alt: number | null;
  extension: string;
}

/** Returns the path of a file in a file store. */
export function pathIn(
  root: string,
  { isEvenSpread, key, folder }: Layout,
  { ref, alt, extension }: FileName,
): string {
  const digits = isEvenSpread ? [...String(ref)].reverse() : [...String(ref)];
  const last = digits.length - 1;
  const folders = digits.map((digit, at) =>
    at === last && key !== '' ? `${digit}_${hash(`${ref}_${key}`)}` : digit,
  );
  const suffix = alt === null ? '' : `_alt_${alt}`;
  const scramble = key === '' ? '' : `_${hash(`${ref}${suffix}${key}`)}`;
  return join(root, folder, ...folders, `${ref}${suffix}${scramble}.${extension}`);
}

/** A file that is there. */
export interface FoundFile {
  path: string;
  sizeBytes: number;
  /** Its size and time, which tell whether it has changed since an earlier run. */
  mark: string;
}

async function fileAt(path: string): Promise<FoundFile | null> {
  const found = await stat(path).catch(() => null);
  if (found?.isFile() !== true) return null;
  const { size, mtimeMs } = found;
  return { path, sizeBytes: size, mark: `${size} ${Math.floor(mtimeMs)}` };
}

/** Finds files of the store. Tries the layout that was found last first, because few installations mix them. */
export interface FileFinder {
  original(ref: number, extension: string): Promise<FoundFile | null>;
  alternative(ref: number, alt: number, extension: string): Promise<FoundFile | null>;
  /** A file in the folder of StaticSync; null if it is missing or lies outside. */
  synced(path: string): Promise<FoundFile | null>;
}

export function openFileFinder(store: FileStore): FileFinder {
  const keys = store.scrambleKey === '' ? [''] : [store.scrambleKey, ''];
  let layouts: Layout[] = keys.flatMap((key) =>
    ['', 'original'].flatMap((folder) =>
      [true, false].map((isEvenSpread) => ({ isEvenSpread, key, folder })),
    ),
  );
  const find = async (ref: number, alt: number | null, extension: string): Promise<FoundFile | null> => {
    // An extension is part of a path.
    if (!/^[\p{L}\p{N}_~-]{1,20}$/u.test(extension)) return null;
    for (const layout of layouts) {
      const found = await fileAt(pathIn(store.root, layout, { ref, alt, extension }));
      if (found === null) continue;
      if (layouts[0] !== layout) layouts = [layout, ...layouts.filter((other) => other !== layout)];
      return found;
    }
    return null;
  };
  return {
    original: (ref, extension) => find(ref, null, extension),
    alternative: (ref, alt, extension) => find(ref, alt, extension),
    async synced(path) {
      if (store.syncdir === null) return null;
      const root = resolve(store.syncdir);
      const full = resolve(root, path);
      return full.startsWith(root + sep) ? fileAt(full) : null;
    },
  };
}

/** The beginning of a file that older checksums cover. */
const CHECKED_BYTES = 50_000;

/** Returns the older checksum of a file, of its size and its beginning. */
export function partialChecksum(sizeBytes: number, beginning: Buffer): string {
  const hash = createHash('md5').update(`${sizeBytes}_`).update(beginning.subarray(0, CHECKED_BYTES));
  return hash.digest('hex');
}

/** Returns whether these bytes have the checksum that ResourceSpace recorded: of all of them, or of size and beginning. */
export function isChecksumOf(bytes: Buffer, recorded: string): boolean {
  const checksum = recorded.toLowerCase();
  return (
    partialChecksum(bytes.length, bytes) === checksum ||
    createHash('md5').update(bytes).digest('hex') === checksum
  );
}

/** Does what `isChecksumOf` does for a file that is too large for the memory. */
export async function hasChecksum(path: string, recorded: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const head = Buffer.alloc(Math.min(size, CHECKED_BYTES));
    await file.read(head, 0, head.length, 0);
    if (partialChecksum(size, head) === recorded.toLowerCase()) return true;
    const whole = createHash('md5');
    for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) whole.update(chunk);
    return whole.digest('hex') === recorded.toLowerCase();
  } finally {
    await file.close();
  }
}
