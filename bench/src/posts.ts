import { startSession } from '@vitrine/server/sessions';
import type pg from 'pg';
import { corpusDirectory, joinDatabase, spawnService } from './library.ts';
import { median } from './load.ts';

const POSTS = 100_000;
const APPEARANCES = 50_000;
const COMMENTS = 100_000;
const ROUNDS = 15;
/** Marks the rows of this benchmark, which are removed afterwards. */
const MARK = 999_999;

/** Returns the median milliseconds of repeated runs of one action. */
async function timed(once: () => Promise<unknown>, rounds = ROUNDS): Promise<number> {
  await once();
  const samples: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    await once();
    samples.push(performance.now() - began);
  }
  return median(samples);
}

interface Scene {
  owner: number;
  asset: string;
  fullPost: string;
  emptyPost: string;
}

/** Creates an asset in 50,000 posts and a post with 100,000 comments, inserted without the triggers. */
async function prepare(client: pg.PoolClient): Promise<Scene> {
  await client.query('set session_replication_role = replica');
  const { rows } = await client.query<{ id: string; owner_user_ref: string }>(
    'select id, owner_user_ref from assets where owner_user_ref is not null and deleted_at is null limit 1',
  );
  const asset = rows[0];
  if (asset === undefined) throw new Error('the corpus has no asset');
  await client.query(
    `insert into post_members (post_id, asset_id, sort_order)
      select id, $1, ${MARK} from posts where deleted_at is null limit ${APPEARANCES} on conflict do nothing`,
    [asset.id],
  );
  const { rows: posts } = await client.query<{ id: string }>(
    `select id from posts where deleted_at is null and not draft and visibility = 'public' and comment_count = 0
      order by posted_at limit 2`,
  );
  const [full, empty] = posts;
  if (full === undefined || empty === undefined) throw new Error('the corpus has no post without comments');
  await client.query(
    `insert into comments (post_id, author_user_ref, body, created_at)
      select $1, 1 + n % 2000, 'comment ' || n, now() - make_interval(secs => n) from generate_series(1, ${COMMENTS}) n`,
    [full.id],
  );
  await client.query('update posts set comment_count = $2 where id = $1', [full.id, COMMENTS]);
  await client.query('reset session_replication_role');
  await client.query('vacuum analyze post_members');
  await client.query('analyze comments');
  return { owner: Number(asset.owner_user_ref), asset: asset.id, fullPost: full.id, emptyPost: empty.id };
}

async function cleanUp(client: pg.PoolClient, { fullPost, emptyPost }: Scene): Promise<void> {
  await client.query('set session_replication_role = replica');
  await client.query(`delete from post_members where sort_order = ${MARK}`);
  await client.query('delete from comments where post_id = any($1)', [[fullPost, emptyPost]]);
  await client.query('update posts set comment_count = 0 where id = any($1)', [[fullPost, emptyPost]]);
  await client.query('reset session_replication_role');
}

/**
 * `bench posts`: measures the usage list of an asset in 50,000 posts and a comment on a post with 100,000 comments.
 */
export async function benchPosts(): Promise<void> {
  const directory = await corpusDirectory(POSTS);
  const service = await spawnService(directory);
  const database = joinDatabase(directory);
  const client = await database.pool.connect();
  const scene = await prepare(client);
  try {
    const session = { userRef: scene.owner, days: 1, address: '', userAgent: 'bench' };
    const headers = { cookie: `user=${(await startSession(database.db, session)).token}` };
    const api = `${service.address}/api/v1`;
    const ask = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(api + path, { ...init, headers: { ...headers, ...init.headers } });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
      return text;
    };
    const countOnce = () =>
      client.query(
        `select count(*) from post_members m join posts p on p.id = m.post_id
          where m.asset_id = $1 and p.deleted_at is null and not p.draft
            and (p.visibility in ('public', 'org-only') or p.author_user_ref = $2)`,
        [scene.asset, scene.owner],
      );
    const usages: number[] = [];
    const counts: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      usages.push(await timed(() => ask(`/assets/${scene.asset}/posts`)));
      counts.push(await timed(countOnce));
    }
    const [usage, count] = [median(usages), median(counts)];
    console.log(
      `usage view ${usage.toFixed(1)} ms, the count alone ${count.toFixed(1)} ms, ratio ${(usage / count).toFixed(2)}`,
    );
    const write = (post: string) =>
      ask(`/posts/${post}/comments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ body: 'a comment' }),
      });
    const onEmpty: number[] = [];
    const onFull: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      onEmpty.push(await timed(() => write(scene.emptyPost)));
      onFull.push(await timed(() => write(scene.fullPost)));
    }
    const [empty, full] = [median(onEmpty), median(onFull)];
    console.log(
      `a comment on a post with ${COMMENTS}: ${full.toFixed(2)} ms, on an empty one ${empty.toFixed(2)} ms, ratio ${(full / empty).toFixed(2)}`,
    );
  } finally {
    await cleanUp(client, scene);
    client.release();
    await database.close();
    await service.stop();
  }
}
