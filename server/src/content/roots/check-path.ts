import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { sql } from 'kysely';
import type { Config } from '../../core/config.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { readRoots } from '../root-files/root.ts';

/** Folders whose files are no files. */
const systemFolders = ['/proc', '/sys'];

function holds(folder: string, other: string): boolean {
  return other === folder || other.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function overlap(a: string, b: string): boolean {
  return holds(a, b) || holds(b, a);
}

/** Returns the folder at a path without links. Throws a 400 if there is none. */
async function folderAt(path: string): Promise<string> {
  if (!isAbsolute(path)) throw refuse('root-path-not-absolute');
  const real = await realpath(path).catch(() => null);
  const found = real === null ? null : await stat(real).catch(() => null);
  if (real === null || found?.isDirectory() !== true) throw refuse('root-path-not-folder');
  return real;
}

/**
 * Returns the path of a root without links. Throws a 400 for one that holds or is in the data of the library or another
 * root (ROOT-2). Roots are named one at a time, so that two at once do not overlap.
 */
export async function checkPath(
  tx: Tx,
  { dataDir }: Pick<Config, 'dataDir'>,
  path: string,
  rootId: string | null,
): Promise<string> {
  const real = await folderAt(path);
  if (systemFolders.some((folder) => holds(folder, real))) throw refuse('root-path-of-system');
  const library = await realpath(dataDir).catch(() => resolve(dataDir));
  if (overlap(real, library)) throw refuse('root-overlaps-library');
  await sql`lock table roots in share row exclusive mode`.execute(tx);
  const others = await readRoots(tx, sql`r.id is distinct from ${rootId}::uuid`);
  const other = others.find((root) => overlap(real, root.path));
  if (other !== undefined) throw refuse('root-overlaps-root', { path: other.path });
  return real;
}
