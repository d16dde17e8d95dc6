import { basename } from 'node:path/posix';
import { metadataMatch, mostSidecarBytes } from '@vitrine/contract/sidecars';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { folderOf, openRegular, pathBelow } from '../../platform/files/below.ts';
import { discard, receive } from '../assets/receive.ts';
import type { RootRow } from '../root-files/root.ts';
import type { FileState } from '../root-files/state.ts';
import { type ReadSidecar, readSidecar } from '../sidecars/read.ts';
import { attachMetadata } from '../sidecars/store.ts';
import { textOf } from './walk.ts';

/** Stands for the hash of a sidecar that cannot be read, so that it is tried again only when it changes. */
const UNREADABLE = '0'.repeat(64);

/** An XMP sidecar that is new or has changed. */
export interface FoundSidecar {
  path: Buffer;
  state: FileState;
}

interface Described {
  name: string;
  id: string;
  hash: string;
}

/** Returns the assets of files beside a sidecar whose names begin like its own. */
async function filesBeside({ db }: Pick<Deps, 'db'>, { id }: RootRow, path: Buffer): Promise<Described[]> {
  const base = path.subarray(0, path.lastIndexOf(0x2e));
  const [from, to] = [Buffer.concat([base, Buffer.from('.')]), Buffer.concat([base, Buffer.from('/')])];
  const { rows } = await sql<{ path: Buffer; id: string; hash: string }>`
    select f.path, a.id, a.file_hash as hash from root_files f join assets a on a.id = f.asset_id
    where f.root_id = ${id} and (f.path = ${base} or f.path >= ${from} and f.path < ${to})
      and a.deleted_at is null order by f.path limit 100`.execute(db);
  return rows
    .filter((row) => folderOf(row.path).equals(folderOf(path)))
    .map((row) => ({ name: basename(textOf(row.path)), id: row.id, hash: row.hash }));
}

async function readBytes(
  deps: Deps,
  path: Buffer,
  file: { name: string; kind: 'named' | 'stem' },
): Promise<ReadSidecar | null> {
  const handle = await openRegular(path);
  if (handle === null) return null;
  // A copy has a path that decoders can open even if the name of the file is not UTF-8. The stream closes the file.
  const received = await receive(handle.createReadStream(), deps.storage, mostSidecarBytes);
  try {
    return await readSidecar(deps, { ...received, ...file });
  } finally {
    await discard(received.path);
  }
}

/**
 * Gives the metadata in a sidecar to the asset of the file that it describes. Returns false if there is none (yet), and
 * rejects when it cannot be read; it is then read again when it changes.
 */
export async function useSidecar(deps: Deps, root: RootRow, { path, state }: FoundSidecar): Promise<boolean> {
  const name = basename(textOf(path));
  const match = metadataMatch(name, await filesBeside(deps, root, path));
  if (match === null || root.owner_user_ref === null) return false;
  const ownerRef = root.owner_user_ref;
  const { file, kind } = match;
  const keep = async (hash: string) => {
    await sql`insert into root_files (root_id, path, is_sidecar, size_bytes, modified_us, device, hash)
      values (${root.id}, ${path}, true, ${state.sizeBytes}, ${state.modifiedUs}, ${state.device}, ${hash})
      on conflict (root_id, path) do update set size_bytes = excluded.size_bytes, modified_us = excluded.modified_us,
        device = excluded.device, hash = excluded.hash, missing_since = null`.execute(deps.db);
  };
  try {
    const sidecar = await readBytes(deps, pathBelow(root.path, path), { name, kind });
    if (sidecar === null) return false;
    await deps.db.transaction().execute(async (tx) => {
      await sql`select from assets where id = ${file.id} for no key update`.execute(tx);
      await attachMetadata(tx, { id: file.id, hash: file.hash, ownerRef }, [sidecar]);
    });
    await keep(sidecar.hash);
    return true;
  } catch (error) {
    await keep(UNREADABLE);
    throw error;
  }
}
