import type pg from 'pg';

/** The size of a library: posts with two members each. All other numbers derive from it. */
export interface CorpusSize {
  posts: number;
}

export const USERS = 2000;

/** Returns an SQL expression for a number from 0 to `most` - 1 that depends only on the row and the salt. */
function dice(row: string, salt: number, most: number): string {
  return `(abs(hashint4(${row} + ${salt})::bigint) % ${most})`;
}

const published = '00000000-0000-4000-8000-000000000202';
const wip = '00000000-0000-4000-8000-000000000201';

/**
 * Statements that fill an empty library. They run in the database, so that a million posts take minutes, not hours.
 */
function statements(posts: number): [what: string, sql: string][] {
  const assets = posts * 2;
  const author = `1 + ${dice('i', 11, USERS)}`;
  return [
    [
      'users',
      `insert into users (username, display_name, fullname, role_id)
       select 'user' || i, case when i % 3 = 0 then 'Person ' || i end, 'Full Name ' || i, '00000000-0000-4000-8000-000000000102'
       from generate_series(1, ${USERS}) i`,
    ],
    [
      'follows',
      `insert into user_follows (follower_user_ref, followed_user_ref)
       select i, 1 + (i + j * 37) % ${USERS} from generate_series(1, ${USERS}) i, generate_series(1, 20) j
       where i <> 1 + (i + j * 37) % ${USERS} on conflict do nothing`,
    ],
    [
      'files',
      `insert into files (hash, size_bytes, mime, extension, makers_version, pixel_width, pixel_height, thumbhash, renditions)
       select h, 2000000 + i % 4000000, 'image/jpeg', 'jpg', 1000, 6000, 4000, '3QcCBICTq/qSWIhqqYbyaQWHpw==',
         jsonb_build_object(
           'col', jsonb_build_object('object', 'renditions/' || h || '/col.webp', 'type', 'image/webp', 'width', 320, 'height', 320, 'bytes', 18000),
           'preview', jsonb_build_object('object', 'renditions/' || h || '/preview.webp', 'type', 'image/webp', 'width', 1024, 'height', 683, 'bytes', 90000),
           'screen', jsonb_build_object('object', 'renditions/' || h || '/screen.webp', 'type', 'image/webp', 'width', 2048, 'height', 1365, 'bytes', 310000),
           'hires', jsonb_build_object('object', 'renditions/' || h || '/hires.webp', 'type', 'image/webp', 'width', 4096, 'height', 2731, 'bytes', 900000))
       from generate_series(1, ${assets}) i, lateral (select encode(sha256(i::text::bytea), 'hex') as h) f`,
    ],
    [
      'assets',
      `insert into assets (id, owner_user_ref, title, description, asset_type, file_hash, file_name, processing_status, sensitivity, mature, ai_provenance, metadata, created_at, updated_at)
       select md5('asset' || n)::uuid, ${author}, 'Picture ' || n, 'Taken on a walk, number ' || n, 1,
         encode(sha256(n::text::bytea), 'hex'), 'IMG_' || n || '.jpg', 'ready',
         case when ${dice('n', 3, 50)} = 0 then 'restricted' else 'public' end, ${dice('n', 5, 50)} = 0,
         case ${dice('n', 7, 4)} when 0 then 'none' when 1 then 'assisted' end, '{"camera": "V1"}',
         timestamptz '2026-06-01' - i * interval '1 minute', timestamptz '2026-06-01' - i * interval '1 minute'
       from generate_series(1, ${posts}) i, lateral (select i * 2 - 1 as n union all select i * 2) m`,
    ],
    [
      'asset tags',
      `insert into asset_tags (asset_id, value, source, position)
       select md5('asset' || n)::uuid, 'tag' || ${dice('n', 13, 500)}, 'manual', 0 from generate_series(1, ${assets}) n`,
    ],
    [
      'posts',
      `insert into posts (id, author_user_ref, title, description, visibility, state_id, tags, like_count, comment_count, posted_at, published_at, created_at, updated_at, deleted_at)
       select md5('post' || i)::uuid, ${author}, 'Post ' || i, 'What happened that day, at some length. ' || i,
         (array['public','public','public','public','public','public','public','public','public','public','public','public','public','public',
           'org-only','org-only','org-only','org-only','followers','private','explicit-share'])[1 + ${dice('i', 17, 21)}],
         case when ${dice('i', 19, 100)} = 0 then uuid '${wip}' else '${published}' end,
         array['tag' || ${dice('i', 23, 500)}, 'tag' || (500 + ${dice('i', 29, 500)})],
         case when i % 2 = 0 then 2 else 0 end, case when i % 3 = 0 then 4 else 0 end,
         t, t, t, t, case when ${dice('i', 31, 100)} = 0 then now() end
       from generate_series(1, ${posts}) i, lateral (select timestamptz '2026-06-01' - i * interval '1 minute' as t) x`,
    ],
    [
      'members',
      `insert into post_members (post_id, asset_id, sort_order)
       select md5('post' || i)::uuid, md5('asset' || (i * 2 - 1 + j))::uuid, j
       from generate_series(1, ${posts}) i, generate_series(0, 1) j`,
    ],
    [
      'shown members',
      `insert into shown_members (post_id, asset_id, posted_at, audience)
       select m.post_id, m.asset_id, p.posted_at, x.audience from post_members m
         join posts p on p.id = m.post_id join assets a on a.id = m.asset_id cross join lateral (
           select member_audience(a.deleted_at, a.status, a.processing_status, a.sensitivity, a.exposure) as audience) x
       where x.audience is not null order by p.posted_at, m.post_id`,
    ],
    [
      'likes',
      `insert into post_likes (post_id, user_ref)
       select md5('post' || i)::uuid, 1 + (i * 7 + j * 13) % ${USERS} from generate_series(2, ${posts}, 2) i, generate_series(0, 1) j`,
    ],
    [
      'comments',
      `insert into comments (post_id, author_user_ref, body, created_at)
       select md5('post' || i)::uuid, 1 + (i * 3 + j * 17) % ${USERS}, 'A remark about post ' || i || ', number ' || j,
         timestamptz '2026-06-01' - i * interval '1 minute' + j * interval '10 seconds'
       from generate_series(3, ${posts}, 3) i, generate_series(1, 4) j`,
    ],
  ];
}

/** Indexes rows that were inserted without their triggers, a thousand at a time, in chronological order. */
function documentsOf(kind: 'post' | 'asset' | 'collection', time: 'posted_at' | 'created_at'): string {
  return `select count(write_${kind}_documents(ids)) from (
    select array_agg(id) as ids from (
      select id, (row_number() over (order by ${time}, id) - 1) / 1000 as part from ${kind}s) numbered
    group by part order by part) parts`;
}

/** Fills an empty, migrated library. `log` receives the progress. */
export async function fillCorpus(
  pool: pg.Pool,
  { posts }: CorpusSize,
  log: (line: string) => void,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(
      "set statement_timeout = 0; set synchronous_commit = off; set maintenance_work_mem = '512MB'",
    );
    // Skips the triggers that count likes and comments: the posts are inserted with their counts.
    await client.query('set session_replication_role = replica');
    for (const [what, sql] of statements(posts)) {
      const began = performance.now();
      const { rowCount } = await client.query(sql);
      log(`  ${what}: ${rowCount} in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    }
    await client.query('reset session_replication_role');
    await client.query(documentsOf('post', 'posted_at'));
    await client.query(documentsOf('asset', 'created_at'));
    await client.query(documentsOf('collection', 'created_at'));
    await client.query('vacuum analyze');
  } finally {
    client.release();
  }
}
