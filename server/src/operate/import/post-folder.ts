import { basename } from 'node:path';
import { sql } from 'kysely';
import { livePost } from '../../access/posts.ts';
import { shortened } from '../../content/assets/insert.ts';
import { insertPost } from '../../content/posts/insert.ts';
import type { Database } from '../../platform/database/pool.ts';

/** POST-16: a post has at most 200 members. */
const MOST_MEMBERS = 200;

/** Returns those of these assets that are in none of the author's posts, in the given order. */
async function unposted(db: Database, authorRef: number, assetIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ asset_id: string }>`
    select i.asset_id from unnest(${assetIds}::uuid[]) with ordinality i (asset_id, place)
    where not exists (
      select from post_members m join posts p on p.id = m.post_id
      where m.asset_id = i.asset_id and p.author_user_ref = ${authorRef} and ${livePost})
    order by i.place`.execute(db);
  return rows.map((row) => row.asset_id);
}

/**
 * Posts a folder's assets under the folder's name. Leaves out assets that are in a post already, so that a second run
 * adds only new ones. Returns the number of posts created.
 */
export async function postFolder(
  db: Database,
  authorRef: number,
  folder: string,
  assetIds: readonly string[],
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const left = await unposted(tx, authorRef, [...new Set(assetIds)]);
    let made = 0;
    for (let start = 0; start < left.length; start += MOST_MEMBERS) {
      const members = left.slice(start, start + MOST_MEMBERS).map((asset_id) => ({ asset_id }));
      await insertPost(tx, authorRef, { members, title: shortened(basename(folder), 500) });
      made += 1;
    }
    return made;
  });
}
