import {
  addAssetToCollection,
  addToCollection,
  mostItems,
  removeAssetFromCollection,
  removeFromCollection,
} from '@vitrine/contract/collections';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { arrangedPosts, filesShown } from '../../access/collections.ts';
import { peersToNotify } from '../../access/federation.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeers, notifyPeersOfComments, notifyPeersOfEach } from '../../core/outbox/enqueue.ts';
import { recordEdit } from '../../people/audit/record-edit.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { type ItemKind, itemTables, placedItems } from './items.ts';
import { type LockedCollection, lockItems } from './lock.ts';

/** Distance between items: one gap allows 32 moves into the same place before all are spaced evenly again. */
export const STEP = 2 ** 32;

/** Returns how many items a collection has, up to the limit. */
export async function countItems(tx: Tx, id: string): Promise<number> {
  const { rows } = await sql<{ size: number }>`
    select count(*) as size from (select from ${placedItems(id)} i limit ${mostItems}) counted`.execute(tx);
  return rows[0]?.size ?? 0;
}

/** Records a change of the items of a locked collection, if it is another person's (AUDIT-1). */
export function recordItems(
  tx: Tx,
  caller: SignedIn,
  { id, owner }: Pick<LockedCollection, 'id' | 'owner'>,
): Promise<void> {
  const change = { items: true };
  return recordEdit(tx, caller, { kind: 'collection', id, owner }, change);
}

/**
 * Places items last in this order, under the collection's lock; those that are already there stay. Throws a 409 when
 * the collection would hold too many. Returns whether any was placed.
 */
async function placeLast(
  tx: Tx,
  caller: SignedIn,
  collectionId: string,
  kind: ItemKind,
  ids: readonly string[],
): Promise<boolean> {
  const { table, id } = itemTables[kind];
  const { numAffectedRows = 0n } = await sql`
    insert into ${table} (collection_id, ${id}, position, added_by)
    select ${collectionId}, named.id,
      (select coalesce(max(position), 0) from ${placedItems(collectionId)} i) + named.turn * ${STEP}::bigint, ${caller.ref}
    from unnest(${[...ids]}::uuid[]) with ordinality named (id, turn)
    on conflict do nothing`.execute(tx);
  if (numAffectedRows === 0n) return false;
  const { rows } = await sql<{ size: number }>`
    select count(*) as size from (select from ${placedItems(collectionId)} i limit ${mostItems + 1}) counted`.execute(
    tx,
  );
  if ((rows[0]?.size ?? 0) > mostItems) throw refuse('collection-full', { max: mostItems });
  return true;
}

/**
 * Appends a post to a collection that the caller may change, and sends both to the peers of the collection. Throws 404
 * unless its editor can name the post.
 */
export async function append(tx: Tx, caller: SignedIn, collectionId: string, postId: string): Promise<void> {
  const locked = await lockItems(tx, caller, collectionId);
  const { id } = locked;
  const { rows } = await sql`select from posts p
    where p.id = ${postId} and ${arrangedPosts(caller)} for key share of p`.execute(tx);
  if (rows.length === 0) throw notFound();
  await notifyPeers(tx, { activity: 'update', kind: 'collection', objectId: id, actorRef: caller.ref });
  if (await appendPosts(tx, caller, id, [postId])) await recordItems(tx, caller, locked);
}

/**
 * Appends posts that the caller can name to a locked collection, and sends them to the collection's peers. Returns whether
 * any is new there.
 */
export async function appendPosts(
  tx: Tx,
  caller: SignedIn,
  id: string,
  postIds: readonly string[],
): Promise<boolean> {
  const isChanged = await placeLast(tx, caller, id, 'post', postIds);
  await notifyPeersOfEach(tx, 'post', postIds, caller.ref, 'create');
  const given = sql`select named.post_id, recipients.peer_id from unnest(${[...postIds]}::uuid[]) named (post_id),
    lateral (${peersToNotify('post', sql`named.post_id`)}) recipients`;
  await notifyPeersOfComments(tx, given);
  return isChanged;
}

/**
 * Appends files that the caller is shown to a locked collection. Peers are not given the files of a collection. Returns
 * whether any is new there.
 */
export function appendFiles(
  tx: Tx,
  caller: SignedIn,
  id: string,
  assetIds: readonly string[],
): Promise<boolean> {
  return placeLast(tx, caller, id, 'asset', assetIds);
}

/** Takes items out of a locked collection, and its cover with its post. Returns whether any was there. */
export async function takeOut(tx: Tx, id: string, kind: ItemKind, ids: readonly string[]): Promise<boolean> {
  const { table, id: column } = itemTables[kind];
  const { numAffectedRows = 0n } = await sql`delete from ${table}
    where collection_id = ${id} and ${column} = any(${[...ids]}::uuid[])`.execute(tx);
  if (kind === 'asset' || numAffectedRows === 0n) return numAffectedRows > 0n;
  await tx
    .updateTable('collections')
    .set({ cover_post_id: null, cover_focal_x: null, cover_focal_y: null, cover_focal_asset_id: null })
    .where('id', '=', id)
    .where('cover_post_id', 'in', ids)
    .execute();
  return true;
}

export const add = handle(addToCollection, async ({ db }, { caller, params }) => {
  await db.transaction().execute((tx) => append(tx, caller, params.id, params.post_id));
  return { status: 204 };
});

/** Idempotent; works even if the caller cannot read the post. Removes a cover with its post. */
export const remove = handle(removeFromCollection, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const locked = await lockItems(tx, caller, params.id);
    const { id } = locked;
    if (await takeOut(tx, id, 'post', [params.post_id])) await recordItems(tx, caller, locked);
    await notifyPeers(tx, { activity: 'update', kind: 'collection', objectId: id, actorRef: caller.ref });
  });
  return { status: 204 };
});

/** COLLECTION-21: only files that the caller is shown. */
export const addFile = handle(addAssetToCollection, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const locked = await lockItems(tx, caller, params.id);
    const { rows } = await sql`select from assets a
      where a.id = ${params.asset_id} and ${filesShown(caller)} for key share of a`.execute(tx);
    if (rows.length === 0) throw notFound();
    if (await appendFiles(tx, caller, locked.id, [params.asset_id])) await recordItems(tx, caller, locked);
  });
  return { status: 204 };
});

/** Idempotent; works even if the caller cannot read the file. */
export const removeFile = handle(removeAssetFromCollection, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const locked = await lockItems(tx, caller, params.id);
    if (await takeOut(tx, locked.id, 'asset', [params.asset_id])) await recordItems(tx, caller, locked);
  });
  return { status: 204 };
});
