import { randomUUID } from 'node:crypto';
import { copyFile, link, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { addsToRoot } from '../../access/roots.ts';
import { MAKERS_VERSION } from '../../media/renderable.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { isBelow } from '../../platform/files/below.ts';
import { isMissing } from '../../platform/files/directory-tree.ts';
import { isSystemName } from '../../platform/files/junk.ts';
import { refuse } from '../../platform/http/refuse.ts';
import type { Received } from '../assets/receive.ts';
import { type RootRow, readRoot } from './root.ts';
import { stateOf } from './state.ts';

/** Where a new file is written: a root and a path below it. */
export interface Placing {
  root: RootRow;
  path: string;
}

/** More would not fit into the index of paths. */
const MOST_BYTES = 2000;

/** Returns whether a name would be found by a scan, and stays in its folder. */
function isPlainName(name: string): boolean {
  // A name of 255 bytes is the longest of most file systems.
  return name !== '' && !name.startsWith('.') && !isSystemName(name) && Buffer.byteLength(name) <= 255;
}

/** Throws a 400 for a path that leaves the root, or that scans leave out. */
function checkPath(path: string): void {
  const isFit = path.split('/').every(isPlainName) && !/[\p{Cc}\\]/u.test(path);
  if (!isFit || Buffer.byteLength(path) > MOST_BYTES || /\.xmp$/i.test(path))
    throw refuse('root-path-invalid');
}

/**
 * Returns where a new file of this caller goes. Only the owner of a root and administrators write there; for others there
 * is no such root (ROOT-14).
 */
export async function findPlacing(
  db: Database,
  caller: SignedIn,
  { root_id, root_path }: { root_id: string; root_path: string },
): Promise<Placing> {
  const root = await readRoot(db, root_id);
  if (root === null || !addsToRoot(caller, root)) throw refuse('root-not-found');
  if (!root.writable) throw refuse('root-not-writable');
  checkPath(root_path);
  return { root, path: root_path };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Makes the folders of a path below a root, and refuses one that a link leads out of it. */
async function openFolder({ root, path }: Placing): Promise<string> {
  const names = path.split('/').slice(0, -1);
  let folder = root.path;
  for (const name of ['', ...names]) {
    folder = join(folder, name);
    if (name !== '')
      await mkdir(folder).catch((error: unknown) => {
        if (codeOf(error) !== 'EEXIST') throw error;
      });
    if (!(await isBelow(root.path, Buffer.from(folder)))) throw refuse('root-path-invalid');
  }
  return folder;
}

/**
 * Writes a received file below a root, complete or not at all, and never over another one (ROOT-14). Returns the function
 * that removes it again, for a transaction that fails.
 */
export async function placeFile(
  placing: Placing,
  { path: received }: Received,
): Promise<() => Promise<void>> {
  const target = join(placing.root.path, placing.path);
  try {
    const folder = await openFolder(placing);
    // Hidden, so that no scan finds it.
    const partial = join(folder, `.vitrine-${randomUUID()}`);
    try {
      await copyFile(received, partial);
      await link(partial, target);
    } finally {
      await rm(partial, { force: true });
    }
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOTDIR') throw refuse('root-path-taken');
    if (isMissing(error) || /^(?:EACCES|EPERM|EROFS)$/.test(codeOf(error))) throw refuse('root-not-writable');
    throw error;
  }
  return () => rm(target, { force: true });
}

/** Records bytes that only the root has, in the transaction of their asset. The caller holds the lock of their hash. */
export async function recordBytes(tx: Tx, { hash, sizeBytes, mime, extension }: Received): Promise<void> {
  await sql`insert into files (hash, size_bytes, mime, extension, makers_version, in_place)
    values (${hash}, ${sizeBytes}, ${mime}, ${extension}, ${MAKERS_VERSION}, true)
    on conflict (hash) do nothing`.execute(tx);
}

/** Records that a file below a root is the original of an asset. */
export async function recordPlaced(
  tx: Tx,
  assetId: string,
  { root, path }: Placing,
  { hash }: Received,
): Promise<void> {
  const state = await stateOf(Buffer.from(join(root.path, path)));
  if (state === null) throw refuse('root-not-writable');
  const { sizeBytes, modifiedUs, device } = state;
  await sql`insert into root_files (root_id, path, size_bytes, modified_us, device, hash, asset_id)
    values (${root.id}, ${Buffer.from(path)}, ${sizeBytes}, ${modifiedUs}, ${device}, ${hash}, ${assetId})
    on conflict (root_id, path) do update set size_bytes = excluded.size_bytes, modified_us = excluded.modified_us,
      device = excluded.device, hash = excluded.hash, asset_id = excluded.asset_id, is_film = false, missing_since = null`.execute(
    tx,
  );
  await sql`update assets set root_id = ${root.id}, root_path = ${path} where id = ${assetId}`.execute(tx);
}
