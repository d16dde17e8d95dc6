import type { CollectionItem } from '@vitrine/contract/collections';
import { type RawBuilder, sql } from 'kysely';

/** Whether an item is a post or a file. */
export type ItemKind = CollectionItem['kind'];

/** An item of a collection, with its id in lower case. */
export interface ItemRef {
  readonly kind: ItemKind;
  readonly id: string;
}

/** The table of the items of each kind, and its column of their id. */
export const itemTables = {
  post: { table: sql.table('collection_posts'), id: sql.ref('post_id') },
  asset: { table: sql.table('collection_assets'), id: sql.ref('asset_id') },
} as const satisfies Readonly<Record<ItemKind, object>>;

/** Every item placed in a collection, as a query with the columns `kind`, `id` and `position`. */
export function placedItems(collectionId: string): RawBuilder<unknown> {
  return sql`(select 'post' as kind, post_id as id, position from collection_posts
      where collection_id = ${collectionId}
    union all
    select 'asset', asset_id, position from collection_assets where collection_id = ${collectionId})`;
}
