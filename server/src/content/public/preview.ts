import { COUNTED_HITS } from '@vitrine/contract/search';
import { type PublicSample, previewPublicMode } from '@vitrine/contract/system';
import { type RawBuilder, sql } from 'kysely';
import { renderedHash } from '../../access/assets.ts';
import {
  assetsForVisitors,
  collectionsForVisitors,
  peopleForVisitors,
  picturesForVisitors,
  postsForVisitors,
} from '../../access/visitors.ts';
import { handle } from '../../core/handle.ts';
import { readSwitches } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { pictureOfPost } from './picture.ts';

/** Size of the sample, and the share of posts in it if there are enough posts and assets. */
const SAMPLE = 12;
const POSTS_IN_SAMPLE = 6;

/** Counts rows up to one more than the maximum that is reported. */
function counted(from: RawBuilder<unknown>, rule: RawBuilder<boolean>): RawBuilder<number> {
  return sql`(select count(*) from (select from ${from} where ${rule} limit ${COUNTED_HITS + 1}) counted)`;
}

interface Counts {
  posts: number;
  assets: number;
  collections: number;
  people: number;
}

async function countAll(db: Database): Promise<Counts> {
  const { rows } = await sql<Counts>`
    select ${counted(sql`posts p`, postsForVisitors)} as posts, ${counted(sql`assets a`, assetsForVisitors)} as assets,
      ${counted(sql`collections c`, collectionsForVisitors)} as collections,
      ${counted(sql`users u`, peopleForVisitors)} as people`.execute(db);
  const row = rows[0];
  if (row === undefined) throw new Error('the counts returned no row');
  return row;
}

/** Returns the newest posts, then the newest assets, that visitors could see. */
async function readSample(db: Database): Promise<PublicSample[]> {
  const { rows } = await sql<PublicSample>`
    (select 'post' as kind, p.id, p.title, picture.asset_id as picture_asset_id
      from posts p left join lateral ${pictureOfPost('col')} picture on true
      where ${postsForVisitors} order by p.posted_at desc, p.id desc limit ${SAMPLE})
    union all
    (select 'asset' as kind, a.id, a.title,
        case when ${picturesForVisitors} and f.renditions ? 'col' then a.id end as picture_asset_id
      from assets a join files f on f.hash = ${renderedHash}
      where ${assetsForVisitors} order by a.created_at desc, a.id desc limit ${SAMPLE})`.execute(db);
  const posts = rows.filter((row) => row.kind === 'post');
  const assets = rows.filter((row) => row.kind === 'asset');
  const room = Math.max(POSTS_IN_SAMPLE, SAMPLE - assets.length);
  const shown = posts.slice(0, room);
  return [...shown, ...assets.slice(0, SAMPLE - shown.length)];
}

function cappedCount(count: number) {
  return { count: Math.min(count, COUNTED_HITS), capped: count > COUNTED_HITS };
}

/** `GET /system/public-mode/preview`: returns what visitors see, or would see if public mode were on. */
export const preview = handle(previewPublicMode, async ({ db }) => {
  const { posts, assets, collections, people } = await countAll(db);
  return {
    status: 200,
    body: {
      enabled: (await readSwitches(db)).publicMode,
      posts: cappedCount(posts),
      assets: cappedCount(assets),
      collections: cappedCount(collections),
      people: cappedCount(people),
      sample: await readSample(db),
    },
  };
});
