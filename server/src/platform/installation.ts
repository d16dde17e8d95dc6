import { join } from 'node:path';

/** The folder of this package: two levels above this module, and above the bundles in `build/<hash>/`. */
export const serverFolder = join(import.meta.dirname, '../..');

const isBundled = import.meta.filename.endsWith('.js');

/**
 * The folder of bundled programs. Tests run from the sources but set it, because a program that is loaded from its sources
 * takes more than twice the processor time to start.
 */
const programs = isBundled ? import.meta.dirname : process.env.VITRINE_BUNDLE;

/** Returns the file of a module of `src` that runs in a process or thread of its own; bundle-if-stale.js lists them. */
export function programFile(module: `${string}/${string}.ts`): string {
  return programs === undefined
    ? join(serverFolder, 'src', module)
    : join(programs, module.replaceAll('/', '-').replace(/\.ts$/, '.js'));
}
