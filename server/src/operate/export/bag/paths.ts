import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { isMissing } from '../../../platform/files/directory-tree.ts';
import { sentence, WordedError } from '../../../platform/language/sentence.ts';

/** The export cannot be written or read. The message is one line for the operator. */
export class ExportError extends WordedError {}

/** Returns whether a path of a manifest names a file below `data/` and nothing outside. */
export function isPayloadPath(path: string): boolean {
  const parts = path.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  return parts.length > 1 && parts[0] === 'data' && isPlain && !/[\\\0]/.test(path);
}

async function lookAt(path: string): Promise<Stats | null> {
  return lstat(path).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
}

/** The directory of an export, of which no link is followed (EXPORT-7). */
export interface Place {
  root: string;
  /** Returns the path of a file whose directories are real ones; creates them if asked to. */
  resolve(path: string, create?: boolean): Promise<string>;
  /** Returns what is there if it is a file; null otherwise. */
  look(path: string): Promise<Stats | null>;
  /** Opens a file. Throws ExportError if it is none. */
  read(path: string): Promise<Readable>;
}

/** How many directories are known to be real ones, so that not every file asks for all of its own again. */
const MOST_KNOWN = 10_000;

export function openPlaceOf(root: string): Place {
  const known = new Set<string>();
  const requireReal = async (directory: string, create: boolean): Promise<void> => {
    if (known.has(directory)) return;
    const found = await lookAt(directory);
    if (found === null && create) await mkdir(directory).catch(ignoreExisting);
    else if (found?.isDirectory() !== true)
      throw new ExportError(
        found === null
          ? sentence('{directory} is missing', { directory })
          : sentence('{directory} is no directory of the export', { directory }),
      );
    if (known.size >= MOST_KNOWN) known.clear();
    known.add(directory);
  };
  const resolve = async (path: string, create = false) => {
    const parts = dirname(path).split('/');
    let at = root;
    for (const part of parts) {
      if (part === '.') continue;
      at = join(at, part);
      await requireReal(at, create);
    }
    return join(root, path);
  };
  return {
    root,
    resolve,
    async look(path) {
      try {
        const found = await lookAt(await resolve(path));
        return found?.isFile() === true ? found : null;
      } catch (error) {
        if (error instanceof ExportError) return null;
        throw error;
      }
    },
    async read(path) {
      const file = await open(await resolve(path), constants.O_RDONLY | constants.O_NOFOLLOW).catch(
        (error: unknown) => {
          throw new ExportError(sentence('{path} cannot be read', { path }), { cause: error });
        },
      );
      return file.createReadStream();
    },
  };
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}
