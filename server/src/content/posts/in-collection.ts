import { listCollectionPosts } from '@vitrine/contract/collections';
import { sql } from 'kysely';
import { feedPosts, hidesRestricted } from '../../access/assets.ts';
import { filledByHand, readableCollections } from '../../access/collections.ts';
import { handle } from '../../core/handle.ts';
import { placeCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { checkOpen } from '../collections/lock.ts';
import { writePosts, writtenPage } from './write-page.ts';

interface PlacedPostRow {
  id: string;
  /** As text: it may be beyond what a number carries exactly. */
  place: string;
}

/** A collection's posts in its order, as the caller's feed would show them (COLLECTION-5). */
export const posts = handle(listCollectionPosts, async (deps, { caller, params, query }) => {
  const { db } = deps;
  const limit = query.limit ?? DEFAULT_LIMIT;
  const from = placeCursor.read(query.cursor);
  await checkOpen(db, caller, params.id);
  const after =
    from === null ? sql`true` : sql`(cp.position, cp.post_id) > (${from.place}::bigint, ${from.id}::uuid)`;
  const { rows } = await sql<PlacedPostRow>`
    select cp.post_id as id, cp.position::text as place
    from collections c join collection_posts cp on cp.collection_id = c.id join posts p on p.id = cp.post_id
    where c.id = ${params.id} and ${filledByHand} and ${readableCollections(caller)} and ${after} and ${feedPosts(caller)}
    order by cp.position, cp.post_id limit ${limit + 1}`.execute(db);
  const page = cutPage(rows, limit, placeCursor.after);
  const ids = page.items.map((row) => row.id);
  const items = await writePosts(deps, caller, ids, !hidesRestricted(caller));
  return { status: 200, body: writtenPage(items, page.next_cursor) };
});
