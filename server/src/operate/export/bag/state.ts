import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { isMissing } from '../../../platform/files/directory-tree.ts';
import { linesOf } from '../../backup/manifest.ts';
import type { WrittenFile } from './entry.ts';
import { isPayloadPath } from './paths.ts';

/** Returns the file that a line describes; null for one that a kill cut off, or that no export has written. */
function readLine(line: string): WrittenFile | null {
  try {
    const read: unknown = JSON.parse(line);
    if (typeof read !== 'object' || read === null) return null;
    const { key, path, sha256, bytes, modified }: Partial<Record<keyof WrittenFile, unknown>> = read;
    if (typeof key !== 'string' || typeof path !== 'string' || typeof sha256 !== 'string') return null;
    if (typeof bytes !== 'number' || typeof modified !== 'number' || !isPayloadPath(path)) return null;
    return { key, path, sha256, bytes, modified };
  } catch {
    return null;
  }
}

export function formatLine(file: WrittenFile): string {
  return `${JSON.stringify(file)}\n`;
}

/** Yields what a list of files says, in its order; nothing if there is none. */
export async function* readList(path: string): AsyncGenerator<WrittenFile> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (file === null) return;
  for await (const line of linesOf(file.createReadStream())) {
    const read = readLine(line);
    if (read !== null) yield read;
  }
}

/** What is known of a key, each path once; what the first list says comes first. */
export interface KnownFiles {
  key: string;
  files: WrittenFile[];
}

/** Joins lists that are ordered by key. */
export async function* joinLists(lists: readonly AsyncGenerator<WrittenFile>[]): AsyncGenerator<KnownFiles> {
  const heads = await Promise.all(lists.map((list) => list.next()));
  try {
    for (;;) {
      const keys = heads.flatMap((head) => (head.done === true ? [] : [head.value.key]));
      const [first] = keys.toSorted();
      if (first === undefined) return;
      const files: WrittenFile[] = [];
      for (const [at, list] of lists.entries()) {
        for (let head = heads[at]; head?.done === false && head.value.key === first; ) {
          const { value } = head;
          if (!files.some(({ path }) => path === value.path)) files.push(value);
          head = await list.next();
          heads[at] = head;
        }
      }
      yield { key: first, files };
    }
  } finally {
    for (const list of lists) await list.return(undefined);
  }
}

/** Finds what is known of keys that are asked for in order. */
export interface Lookup {
  /** Returns the files of a key; `onPassed` is called with those of keys before it that were not asked for. */
  find(key: string): Promise<readonly WrittenFile[]>;
  /** Passes all that is left. */
  end(): Promise<void>;
  /** Closes the lists. */
  close(): Promise<void>;
}

export function openLookup(
  known: AsyncGenerator<KnownFiles>,
  onPassed: (files: readonly WrittenFile[]) => Promise<void>,
): Lookup {
  let next: Promise<IteratorResult<KnownFiles>> | null = null;
  const advance = async () => {
    next ??= known.next();
    return next;
  };
  return {
    async find(key) {
      for (;;) {
        const head = await advance();
        if (head.done === true || head.value.key > key) return [];
        next = null;
        if (head.value.key === key) return head.value.files;
        await onPassed(head.value.files);
      }
    },
    async end() {
      for (;;) {
        const head = await advance();
        if (head.done === true) return;
        next = null;
        await onPassed(head.value.files);
      }
    },
    async close() {
      await known.return(undefined);
    },
  };
}
