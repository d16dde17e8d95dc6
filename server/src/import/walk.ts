import { opendir } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** A file below the imported directory. */
export interface FoundFile {
  path: string;
  name: string;
  /** The file's folder relative to the directory; '' for the directory itself. */
  folder: string;
}

/** Files and folders that operating systems and storage devices add to folders. */
const systemNames =
  /^(?:@eaDir|#recycle|Thumbs\.db|ehthumbs(?:_vista)?\.db|desktop\.ini|__MACOSX|\$RECYCLE\.BIN|System Volume Information)$/i;

/** Orders names as people count: 2 before 10. */
const inOrder = new Intl.Collator('en', { numeric: true }).compare;

/**
 * Yields every file below a directory, folder by folder. Skips hidden names, files of
 * the system, and symbolic links, which may lead outside.
 */
export async function* walk(root: string, directory = root): AsyncIterable<FoundFile> {
  const folders: string[] = [];
  const names: string[] = [];
  for await (const entry of await opendir(directory)) {
    if (entry.name.startsWith('.') || systemNames.test(entry.name)) continue;
    if (entry.isDirectory()) folders.push(entry.name);
    else if (entry.isFile()) names.push(entry.name);
  }
  for (const name of names.sort(inOrder))
    yield { path: join(directory, name), name, folder: relative(root, directory) };
  for (const folder of folders.sort(inOrder)) yield* walk(root, join(directory, folder));
}
