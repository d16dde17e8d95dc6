import type { AssetSelection } from '@vitrine/contract/batches';
import { type CollectionItem, listCollectionItems } from '@vitrine/contract/collections';
import { sql } from 'kysely';
import { feedPosts, hidesRestricted } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { filesShown, filledByHand, readableCollections } from '../../access/collections.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { JsonText } from '../../platform/http/answer.ts';
import { placeCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT, newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { matchingFiles } from '../collections/filling.ts';
import type { ItemRef } from '../collections/items.ts';
import { readFilling } from '../collections/lock.ts';
import { writtenAssets, writtenPosts } from './write-page.ts';

interface PageOfItems {
  items: ItemRef[];
  next_cursor: string | null;
}

/** Reads a page of what was placed in a collection, in its order (COLLECTION-5, COLLECTION-20). */
async function readPlaced(
  db: Database,
  caller: Caller,
  id: string,
  { limit = DEFAULT_LIMIT, cursor }: PageQuery,
): Promise<PageOfItems> {
  const from = placeCursor.read(cursor);
  const after = (table: 'cp' | 'ca', column: string) =>
    from === null
      ? sql`true`
      : sql`(${sql.ref(`${table}.position`)}, ${sql.ref(`${table}.${column}`)}) > (${from.place}::bigint, ${from.id}::uuid)`;
  const { rows } = await sql<ItemRef & { place: string }>`
    select kind, id, position::text as place from (
      (select 'post' as kind, cp.post_id as id, cp.position
      from collections c join collection_posts cp on cp.collection_id = c.id join posts p on p.id = cp.post_id
      where c.id = ${id} and ${filledByHand} and ${readableCollections(caller)} and ${after('cp', 'post_id')}
        and ${feedPosts(caller)} order by cp.position, cp.post_id limit ${limit + 1})
      union all
      (select 'asset', ca.asset_id, ca.position
      from collections c join collection_assets ca on ca.collection_id = c.id join assets a on a.id = ca.asset_id
      where c.id = ${id} and ${filledByHand} and ${readableCollections(caller)} and ${after('ca', 'asset_id')}
        and ${filesShown(caller)} order by ca.position, ca.asset_id limit ${limit + 1})
    ) items order by position, id limit ${limit + 1}`.execute(db);
  return cutPage(rows, limit, placeCursor.after);
}

/** Reads a page of the files that match a smart collection's query, newest first. */
async function readFilled(
  db: Database,
  caller: Caller,
  filling: AssetSelection,
  query: PageQuery,
): Promise<PageOfItems> {
  const page = newestFirst(query, 'a.created_at', 'a.id');
  const { rows } = await sql<{ id: string; created_at: string }>`
    select a.id, a.created_at from assets a
    where ${filesShown(caller)} and ${await matchingFiles(db, caller, filling)} and ${page.after} ${page.order}`.execute(
    db,
  );
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  return { items: cut.rows.map((row) => ({ kind: 'asset', id: row.id })), next_cursor: cut.next };
}

/** Writes items as the caller sees them, and leaves out those that were deleted or withdrawn meanwhile. */
async function writeItems(deps: Deps, caller: Caller, items: readonly ItemRef[]): Promise<string[]> {
  const idsOf = (kind: ItemRef['kind']) => items.filter((item) => item.kind === kind).map(({ id }) => id);
  const [posts, assets] = await Promise.all([
    writtenPosts(deps, caller, idsOf('post'), !hidesRestricted(caller)),
    writtenAssets(deps, caller, idsOf('asset')),
  ]);
  return items.flatMap(({ kind, id }) => {
    const text = (kind === 'post' ? posts : assets).get(id);
    return text === undefined ? [] : [`{"kind":"${kind}","${kind}":${text}}`];
  });
}

/** `GET /collections/{id}/items`. */
export const items = handle(listCollectionItems, async (deps, { caller, params, query }) => {
  const filling = await readFilling(deps.db, caller, params.id);
  const page =
    filling === null
      ? await readPlaced(deps.db, caller, params.id, query)
      : await readFilled(deps.db, caller, filling, query);
  const texts = await writeItems(deps, caller, page.items);
  const body = `{"items":[${texts.join(',')}],"next_cursor":${JSON.stringify(page.next_cursor)}}`;
  return {
    status: 200,
    body: new JsonText<{ items: CollectionItem[]; next_cursor: string | null }>(body),
  };
});
