import { join } from 'node:path';

/** The folder of this package: two levels above this module, and above the bundles in `build/<hash>/`. */
export const serverFolder = join(import.meta.dirname, '../..');

const isBundled = import.meta.filename.endsWith('.js');

/** Returns the file of a module of `src` that runs in a process or thread of its own; bundle-if-stale.js lists them. */
export function programFile(module: `${string}/${string}.ts`): string {
  return isBundled
    ? join(import.meta.dirname, module.replaceAll('/', '-').replace(/\.ts$/, '.js'))
    : join(serverFolder, 'src', module);
}
