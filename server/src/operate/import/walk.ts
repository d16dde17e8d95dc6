import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { encodingOf } from '../../media/text-encoding.ts';
import { isSystemName } from '../../platform/files/junk.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';

/** A file below the imported directory. */
export interface FoundFile {
  /** As text, for people. */
  path: string;
  /** The path to open: bytes if it is not UTF-8. */
  source: string | Buffer;
  name: string;
  /** The file's folder relative to the directory; '' for the directory itself. */
  folder: string;
}

/** Why a name in a folder is not imported. */
type SkipReason = 'hidden' | 'system' | 'link' | 'other' | 'orphan';

export const whySkipped: Readonly<Record<SkipReason, Sentence>> = {
  hidden: sentence('hidden'),
  system: sentence('written by the system'),
  link: sentence('symbolic link'),
  other: sentence('not a file'),
  orphan: sentence('sidecar without its file'),
};

/** A file or folder that is not imported. */
export interface SkippedEntry {
  path: string;
  folder: string;
  reason: SkipReason;
}

export type Walked = ({ kind: 'file' } & FoundFile) | ({ kind: 'skipped' } & SkippedEntry);

/** Orders names as people count: 2 before 10. */
const inOrder = new Intl.Collator('en', { numeric: true }).compare;

interface Entry {
  source: string | Buffer;
  name: string;
  found: Dirent<Buffer>;
}

/**
 * Returns the decoded names of a directory with their paths. Names that are not UTF-8 are in one encoding, that of the
 * system that wrote them, and are only found by their bytes.
 */
function entriesOf(directory: string | Buffer, entries: readonly Dirent<Buffer>[]): Entry[] {
  const foreign = entries.map(({ name }) => name).filter((name) => !isUtf8(name));
  const encoding = encodingOf(Buffer.concat(foreign.flatMap((name) => [name, Buffer.from('\n')])));
  const decoder = new TextDecoder(encoding);
  return entries.map((found) => {
    const bytes = found.name;
    const isPlain = typeof directory === 'string' && isUtf8(bytes);
    const name = isUtf8(bytes) ? bytes.toString() : decoder.decode(bytes);
    const source = isPlain
      ? join(directory, name)
      : Buffer.concat([Buffer.from(directory), Buffer.from('/'), bytes]);
    return { source, name, found };
  });
}

const byName = (a: Entry, b: Entry) => inOrder(a.name, b.name);

/** Returns why an entry is skipped, or null. Symbolic links may lead outside (ADMIN-9). */
function skipReason({ name, found }: Entry): SkipReason | null {
  if (isSystemName(name)) return 'system';
  if (name.startsWith('.')) return 'hidden';
  if (found.isSymbolicLink()) return 'link';
  return found.isFile() || found.isDirectory() ? null : 'other';
}

/** Yields every file below a directory in natural order, folder by folder, and what is skipped with the reason. */
export function walk(root: string): AsyncIterable<Walked> {
  return walkFolder(root, root, '');
}

async function* walkFolder(root: string, directory: string | Buffer, folder: string): AsyncIterable<Walked> {
  const found = await readdir(directory, { withFileTypes: true, encoding: 'buffer' });
  const entries = entriesOf(directory, found).sort(byName);
  const taken = entries.filter((entry) => skipReason(entry) === null);
  for (const entry of entries) {
    const reason = skipReason(entry);
    if (reason !== null) yield { kind: 'skipped', path: join(root, folder, entry.name), folder, reason };
  }
  for (const { source, name } of taken.filter((entry) => entry.found.isFile()))
    yield { kind: 'file', path: join(root, folder, name), source, name, folder };
  for (const { source, name } of taken.filter((entry) => entry.found.isDirectory()))
    yield* walkFolder(root, source, join(folder, name));
}
