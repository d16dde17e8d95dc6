import type { AnswerOf } from '@vitrine/contract/operation';
import { listAssetPosts } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { mayReadUsage } from '../../access/assets.ts';
import { livePost, readablePosts } from '../../access/posts.ts';
import { handle } from '../../core/handle.ts';
import { JsonText } from '../../platform/http/answer.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { writePosts } from './write-page.ts';

/** POST-39: items are the newest 200; `GET /posts?asset=` paginates the rest. */
const MOST = 200;

/**
 * POST-40: lists where an asset appears, for its owner and administrators; others get the 404 of a missing asset.
 * `withheld_count` is the total minus the readable: negating the rule would lose rows to NULL.
 */
export const ofAsset = handle(listAssetPosts, async (deps, { caller, params }) => {
  const { rows } = await sql<{ ids: string[]; withheld: number }>`
    with containing as (
      select p.id, p.posted_at, ${readablePosts(caller)} as readable
      from post_members m join posts p on p.id = m.post_id
      where m.asset_id = ${params.id} and ${livePost}
    )
    select coalesce((select array_agg(id order by posted_at desc, id desc) from (
        select id, posted_at from containing where readable order by posted_at desc, id desc limit ${MOST}) newest),
        '{}') as ids,
      (select count(*) - count(*) filter (where readable) from containing) as withheld
    from assets a where a.id = ${params.id} and ${mayReadUsage(caller)}`.execute(deps.db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  const items = await writePosts(deps, caller, row.ids, true);
  // Posts that were withdrawn between the statements are withheld now.
  const withheld = row.withheld + row.ids.length - items.length;
  const text = `{"items":[${items.join(',')}],"withheld_count":${withheld}}`;
  return { status: 200, body: new JsonText<AnswerOf<typeof listAssetPosts>>(text) };
});
