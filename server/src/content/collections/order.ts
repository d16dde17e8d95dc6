import { type CollectionOrder, orderCollection, orderCollectionItems } from '@vitrine/contract/collections';
import { type RawBuilder, sql } from 'kysely';
import { feedPosts } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { arrangedPosts, filesShown } from '../../access/collections.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeers } from '../../core/outbox/enqueue.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { type ItemKind, type ItemRef, itemTables, placedItems } from './items.ts';
import { lockItems } from './lock.ts';
import { recordItems, STEP } from './place.ts';

type Arrangement =
  | { kind: 'move'; item: ItemRef; before: string | null }
  | { kind: 'arrange'; postIds: string[] };

/** Returns the item to move; null if the body names none. */
function movedItem({ post_id, asset_id }: CollectionOrder): ItemRef | null {
  if (post_id !== undefined) return { kind: 'post', id: post_id };
  return asset_id === undefined ? null : { kind: 'asset', id: asset_id };
}

/** Checks that the body has exactly one of the three forms. */
function arrangementOf(body: CollectionOrder): Arrangement {
  const { post_id, asset_id, before, post_ids } = body;
  if (post_ids !== undefined) {
    if (post_id !== undefined || asset_id !== undefined || before !== undefined) {
      throw refuse('order-conflicting');
    }
    if (new Set(post_ids).size !== post_ids.length) throw refuse('posts-repeated');
    return { kind: 'arrange', postIds: post_ids };
  }
  if (post_id !== undefined && asset_id !== undefined) throw refuse('order-conflicting');
  const item = movedItem(body);
  if (item === null || before === undefined) throw refuse('order-incomplete');
  if (item.id === before) throw refuse('order-names-itself');
  return { kind: 'move', item, before };
}

/** Returns the items of a collection that meet a condition on `posts p` or on `assets a`, as texts of kind and id. */
async function readKeys(
  tx: Tx,
  id: string,
  which: { posts: RawBuilder<boolean>; files: RawBuilder<boolean> },
): Promise<Set<string>> {
  const { rows } = await sql<{ key: string }>`
    select 'post ' || cp.post_id as key from collection_posts cp join posts p on p.id = cp.post_id
    where cp.collection_id = ${id} and ${which.posts}
    union all
    select 'asset ' || ca.asset_id from collection_assets ca join assets a on a.id = ca.asset_id
    where ca.collection_id = ${id} and ${which.files}`.execute(tx);
  return new Set(rows.map(({ key }) => key));
}

/** Throws 404 for the first named item that is not in the collection for its editor. */
async function checkPlaced(
  tx: Tx,
  caller: SignedIn,
  id: string,
  items: readonly { kinds: readonly ItemKind[]; id: string }[],
): Promise<void> {
  const named = sql`any(${items.map((item) => item.id)}::uuid[])`;
  const placed = await readKeys(tx, id, {
    posts: sql`p.id = ${named} and ${arrangedPosts(caller)}`,
    files: sql`a.id = ${named} and ${filesShown(caller)}`,
  });
  const missing = items.find((item) => !item.kinds.some((kind) => placed.has(`${kind} ${item.id}`)));
  if (missing !== undefined) throw refuse('item-not-in-collection', { item: missing.id });
}

/** Places an item between two others without moving them; false when there is no gap left. */
async function moveBetween(tx: Tx, id: string, item: ItemRef, before: string | null): Promise<boolean> {
  const { table, id: column } = itemTables[item.kind];
  const others = sql`from ${placedItems(id)} i where i.id <> ${item.id}`;
  const place =
    before === null
      ? sql`select coalesce(max(position), 0) + ${STEP}::bigint as at ${others}`
      : sql`select coalesce(previous.at + (following.at - previous.at) / 2, following.at - ${STEP}::bigint) as at
          from (select position as at ${others} and i.id = ${before}) following
          left join lateral (select max(position) as at ${others} and position < following.at) previous on true
          where previous.at is null or following.at - previous.at > 1`;
  const { numAffectedRows } = await sql`
    update ${table} set position = place.at from (${place}) place
    where collection_id = ${id} and ${column} = ${item.id}`.execute(tx);
  return numAffectedRows === 1n;
}

/** Spaces all items of a collection evenly, in their current order. */
async function spread(tx: Tx, id: string): Promise<void> {
  const places = sql`(select kind, id, row_number() over (order by position, id) * ${STEP}::bigint as place
    from ${placedItems(id)} i)`;
  await sql`with placed as materialized (select * from ${places} n),
      files as (update collection_assets ca set position = n.place from placed n
        where ca.collection_id = ${id} and n.kind = 'asset' and ca.asset_id = n.id)
    update collection_posts cp set position = n.place from placed n
    where cp.collection_id = ${id} and n.kind = 'post' and cp.post_id = n.id`.execute(tx);
}

/**
 * Gives every item a place of its own if one of these shares its place, as an item does that the undoing of a batch has
 * returned to a place that another has taken.
 */
async function separate(tx: Tx, id: string, ids: readonly string[]): Promise<void> {
  const { rows } = await sql`select from ${placedItems(id)} i join ${placedItems(id)} other
      on other.position = i.position and other.id <> i.id
    where i.id = any(${[...ids]}::uuid[]) limit 1`.execute(tx);
  if (rows.length > 0) await spread(tx, id);
}

/**
 * Redistributes the places of these items in the order named; the others keep theirs. The places are one array rather
 * than rows to join, because a cached plan expects few of them and compares each item with each place.
 */
async function arrange(tx: Tx, id: string, items: readonly ItemRef[]): Promise<void> {
  const kinds = items.map(({ kind }) => kind);
  const ids = items.map((item) => item.id);
  await separate(tx, id, ids);
  await sql`with named as materialized (
      select * from unnest(${kinds}::text[], ${ids}::uuid[]) with ordinality n (kind, id, turn)),
    place as materialized (
      select array_agg(i.position order by i.position, i.id) as positions from ${placedItems(id)} i
      where (i.kind, i.id) in (select n.kind, n.id from named n)),
    files as (
      update collection_assets ca set position = (select positions[n.turn] from place)
      from named n where n.kind = 'asset' and ca.collection_id = ${id} and ca.asset_id = n.id)
    update collection_posts cp set position = (select positions[n.turn] from place)
    from named n where n.kind = 'post' and cp.collection_id = ${id} and cp.post_id = n.id`.execute(tx);
}

/**
 * Concurrent changes of the order are serialised: each move takes effect, and a list affects only the posts
 * it names.
 */
export const order = handle(orderCollection, async ({ db }, { caller, params, body }) => {
  const asked = arrangementOf(body);
  await db.transaction().execute(async (tx) => {
    const locked = await lockItems(tx, caller, params.id);
    const { id } = locked;
    await notifyPeers(tx, { activity: 'update', kind: 'collection', objectId: id, actorRef: caller.ref });
    await recordItems(tx, caller, locked);
    if (asked.kind === 'arrange') {
      const posts = asked.postIds.map((post) => ({ kind: 'post' as const, id: post }));
      await checkPlaced(
        tx,
        caller,
        id,
        posts.map((post) => ({ kinds: ['post'], id: post.id })),
      );
      await arrange(tx, id, posts);
      return;
    }
    const { item, before } = asked;
    await checkPlaced(tx, caller, id, [
      { kinds: [item.kind], id: item.id },
      ...(before === null ? [] : [{ kinds: ['post', 'asset'] as const, id: before }]),
    ]);
    if (before !== null) await separate(tx, id, [before]);
    if (await moveBetween(tx, id, item, before)) return;
    await spread(tx, id);
    await moveBetween(tx, id, item, before);
  });
  return { status: 204 };
});

/** Throws a 400 unless these are all items that the caller is shown, each once, and otherwise own drafts (COLLECTION-22). */
async function checkComplete(tx: Tx, caller: SignedIn, id: string, items: readonly ItemRef[]): Promise<void> {
  const named = new Set(items.map((item) => `${item.kind} ${item.id}`));
  const files = filesShown(caller);
  const shown = await readKeys(tx, id, { posts: feedPosts(caller), files });
  const known = await readKeys(tx, id, { posts: arrangedPosts(caller), files });
  const isComplete = named.size === items.length && shown.isSubsetOf(named) && named.isSubsetOf(known);
  if (!isComplete) throw refuse('items-incomplete');
}

/** `PATCH /collections/{id}/order`: the items that the caller is not shown keep their places. */
export const orderAll = handle(orderCollectionItems, async ({ db }, { caller, params, body }) => {
  const { items } = body;
  await db.transaction().execute(async (tx) => {
    const locked = await lockItems(tx, caller, params.id);
    const { id } = locked;
    await checkComplete(tx, caller, id, items);
    await arrange(tx, id, items);
    await recordItems(tx, caller, locked);
    await notifyPeers(tx, { activity: 'update', kind: 'collection', objectId: id, actorRef: caller.ref });
  });
  return { status: 204 };
});
