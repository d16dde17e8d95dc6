import { opendir } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** A file below the imported directory. */
export interface FoundFile {
  path: string;
  name: string;
  /** The file's folder relative to the directory; '' for the directory itself. */
  folder: string;
}

/**
 * Yields every file below a directory, folder by folder. Skips hidden names and symbolic links, which may lead
 * outside.
 */
export async function* walk(root: string, directory = root): AsyncIterable<FoundFile> {
  const folders: string[] = [];
  const names: string[] = [];
  for await (const entry of await opendir(directory)) {
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) folders.push(entry.name);
    else if (entry.isFile()) names.push(entry.name);
  }
  for (const name of names.sort())
    yield { path: join(directory, name), name, folder: relative(root, directory) };
  for (const folder of folders.sort()) yield* walk(root, join(directory, folder));
}
