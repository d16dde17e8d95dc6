import { listPostsByAsset } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { feedPosts, liveAsset } from '../../access/assets.ts';
import { handle } from '../../core/handle.ts';
import { writePosts, writtenList } from './write-page.ts';

/** HTTP-9: a plain array has at most the 200 newest. */
const MOST = 200;

/** POST-41: returns the posts of the caller's feed with the asset; an unknown asset is in none. */
export const byAsset = handle(listPostsByAsset, async (deps, { caller, params }) => {
  const { rows } = await sql<{ id: string }>`
    select p.id from post_members m
    join assets a on a.id = m.asset_id and ${liveAsset}
    join posts p on p.id = m.post_id
    where m.asset_id = ${params.id} and ${feedPosts(caller)}
    order by p.posted_at desc, p.id desc limit ${MOST}`.execute(deps.db);
  const ids = rows.map((row) => row.id);
  return { status: 200, body: writtenList(await writePosts(deps, caller, ids, true)) };
});
