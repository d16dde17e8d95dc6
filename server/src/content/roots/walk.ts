import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { encodingOf } from '../../media/text-encoding.ts';
import { isBelow, pathBelow } from '../../platform/files/below.ts';
import type { Skips } from './skip.ts';

/** `files`: paths below the root. `unreadable`: a folder that cannot be listed. */
export type Walked =
  | { kind: 'files'; paths: Buffer[] }
  | { kind: 'unreadable'; folder: Buffer; error: unknown };

/** Files of one part of the walk. */
const PART = 500;
/** Names that the system reads at a time. */
const NAMES = 256;
const slash = Buffer.from('/');
/** An index of the database holds no longer ones. */
export const MOST_PATH_BYTES = 2000;

/** Returns a path as text for people. Bytes that are not UTF-8 are read in the encoding that they probably have. */
export function textOf(path: Buffer): string {
  const text = isUtf8(path) ? path.toString() : new TextDecoder(encodingOf(path)).decode(path);
  return text.replace(/\p{Cc}/gu, '\ufffd').toWellFormed();
}

function below(folder: Buffer, name: Buffer): Buffer {
  return folder.length === 0 ? name : Buffer.concat([folder, slash, name]);
}

export interface WalkOptions {
  skips: Skips;
  /** Relative to the root; empty for the root itself. */
  from: Buffer;
  /** Whether folders below it are walked, too. */
  deep: boolean;
}

/**
 * Yields the files below a folder in parts, as they are read: a folder may have any number of them. Follows no links, so
 * that it neither leaves the root nor walks in a circle (ROOT-4).
 */
export async function* walkRoot(root: string, { skips, from, deep }: WalkOptions): AsyncIterable<Walked> {
  const folders = [from];
  let paths: Buffer[] = [];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for await (const entry of await entriesOf(root, folder)) {
        // The types of Node do not know that names are bytes here.
        const name = entry.name as unknown as Buffer;
        const path = below(folder, name);
        if (skips(name.toString(), path.toString())) continue;
        if (entry.isDirectory() && deep) folders.push(path);
        if (entry.isFile()) paths.push(path);
        if (paths.length < PART) continue;
        yield { kind: 'files', paths };
        paths = [];
      }
    } catch (error) {
      yield { kind: 'unreadable', folder, error };
    }
  }
  if (paths.length > 0) yield { kind: 'files', paths };
}

async function* entriesOf(root: string, folder: Buffer): AsyncIterable<Dirent> {
  const path = folder.length === 0 ? Buffer.from(root) : pathBelow(root, folder);
  // A folder may have been replaced by a link since its name was read.
  if (!(await isBelow(root, path))) return;
  // As above: with this encoding, names are bytes.
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize: NAMES };
  yield* await opendir(path, options);
}
