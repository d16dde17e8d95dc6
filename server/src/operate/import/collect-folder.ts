import { basename } from 'node:path';
import { mostItems } from '@vitrine/contract/collections';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { shortened } from '../../content/assets/insert.ts';
import { lockItems } from '../../content/collections/lock.ts';
import { appendFiles, countItems } from '../../content/collections/place.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';

/** COLLECTION-4: the maximum length of a name. */
export const LONGEST_NAME = 200;

/** Returns the caller's oldest collection of this name that people fill, created if there is none. */
async function findCollection(
  tx: Tx,
  caller: SignedIn,
  name: string,
): Promise<{ id: string; isNew: boolean }> {
  // Concurrent imports of the same folders must not make two.
  await sql`select from users where ref = ${caller.ref} for no key update`.execute(tx);
  const { rows } = await sql<{ id: string }>`select id from collections
    where owner_user_ref = ${caller.ref} and name = ${name} and query is null and deleted_at is null
    order by created_at, id limit 1`.execute(tx);
  const [known] = rows;
  if (known !== undefined) return { id: known.id, isNew: false };
  const { id } = await tx
    .insertInto('collections')
    .values({ owner_user_ref: caller.ref, name, description: '', visibility: 'org-only' })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, isNew: true };
}

/**
 * Appends those of these assets that are not in a collection yet, in their order, as far as it has room. Returns how many had
 * none.
 */
export async function appendFitting(
  tx: Tx,
  caller: SignedIn,
  id: string,
  assetIds: readonly string[],
): Promise<number> {
  await lockItems(tx, caller, id);
  const { rows } = await sql<{ id: string }>`select i.id from unnest(${[...new Set(assetIds)]}::uuid[])
    with ordinality i (id, place) where not exists (
      select from collection_assets c where c.collection_id = ${id} and c.asset_id = i.id)
    order by i.place`.execute(tx);
  const fresh = rows.map((row) => row.id);
  const fitting = fresh.slice(0, Math.max(0, mostItems - (await countItems(tx, id))));
  await appendFiles(tx, caller, id, fitting);
  return fresh.length - fitting.length;
}

/**
 * Puts a folder's assets into the collection with the folder's name, in their order, and leaves those there that are in
 * it already. Returns whether the collection is new, and how many assets had no room.
 */
export async function collectFolder(
  db: Database,
  caller: SignedIn,
  folder: string,
  assetIds: readonly string[],
): Promise<{ isNew: boolean; leftOver: number }> {
  return db.transaction().execute(async (tx) => {
    const { id, isNew } = await findCollection(tx, caller, shortened(basename(folder), LONGEST_NAME));
    return { isNew, leftOver: await appendFitting(tx, caller, id, assetIds) };
  });
}
