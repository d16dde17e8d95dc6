import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Paths of all files at or below a path, relative to the repository, in a fixed order. */
function filesAt(path) {
  try {
    return readdirSync(join(root, path))
      .sort()
      .flatMap((name) => filesAt(`${path}/${name}`));
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path];
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** One hash over the names and contents of all files at or below these paths of the repository. */
export function hashFiles(paths) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap(filesAt)) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

export const bundles = join(root, 'server/build');

/** The folder of the bundle of the present sources, whether it exists or not. */
export function bundleFolder() {
  const inputs = ['contract/src', 'package-lock.json', 'server/bundle-if-stale.js', 'server/src'];
  return join(bundles, hashFiles(inputs).slice(0, 16));
}
