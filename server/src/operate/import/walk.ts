import { isUtf8 } from 'node:buffer';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { encodingOf } from '../../media/text-encoding.ts';

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

/** Files and folders that operating systems and storage devices add to folders. */
const systemNames =
  /^(?:@eaDir|#recycle|Thumbs\.db|ehthumbs(?:_vista)?\.db|desktop\.ini|__MACOSX|\$RECYCLE\.BIN|System Volume Information)$/i;

/** Orders names as people count: 2 before 10. */
const inOrder = new Intl.Collator('en', { numeric: true }).compare;

interface Entry {
  source: string | Buffer;
  name: string;
}

/**
 * Returns the decoded names of a directory with their paths. Names that are not UTF-8 are in one encoding, that of the
 * system that wrote them, and are only found by their bytes.
 */
function entriesOf(directory: string | Buffer, names: readonly Buffer[]): Entry[] {
  const foreign = names.filter((name) => !isUtf8(name));
  const encoding = encodingOf(Buffer.concat(foreign.flatMap((name) => [name, Buffer.from('\n')])));
  const decoder = new TextDecoder(encoding);
  return names.map((bytes) => {
    const isPlain = typeof directory === 'string' && isUtf8(bytes);
    const name = isUtf8(bytes) ? bytes.toString() : decoder.decode(bytes);
    const source = isPlain
      ? join(directory, name)
      : Buffer.concat([Buffer.from(directory), Buffer.from('/'), bytes]);
    return { source, name };
  });
}

const byName = (a: Entry, b: Entry) => inOrder(a.name, b.name);

/**
 * Yields every file below a directory, folder by folder. Skips hidden names, files of
 * the system, and symbolic links, which may lead outside.
 */
export function walk(root: string): AsyncIterable<FoundFile> {
  return walkFolder(root, root, '');
}

async function* walkFolder(
  root: string,
  directory: string | Buffer,
  folder: string,
): AsyncIterable<FoundFile> {
  const found = await readdir(directory, { withFileTypes: true, encoding: 'buffer' });
  const namesOf = (isWanted: (entry: (typeof found)[number]) => boolean) =>
    entriesOf(
      directory,
      found.filter(isWanted).map((entry) => entry.name),
    )
      .filter(({ name }) => !name.startsWith('.') && !systemNames.test(name))
      .sort(byName);
  for (const { source, name } of namesOf((entry) => entry.isFile()))
    yield { path: join(root, folder, name), source, name, folder };
  for (const { source, name } of namesOf((entry) => entry.isDirectory()))
    yield* walkFolder(root, source, join(folder, name));
}
