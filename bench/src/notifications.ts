import { startSession } from '@vitrine/server/sessions';
import type pg from 'pg';
import { corpusDirectory, joinDatabase, spawnService } from './library.ts';
import { median } from './load.ts';

const POSTS = 10_000;
const WATCHERS = 5000;
const ROUNDS = 15;
const MARK = 'watching-crowd-';

interface Scene {
  writer: number;
  watched: string;
  quiet: string;
}

/** Creates a post with 5,000 watchers and one without any. */
async function prepare(client: pg.PoolClient): Promise<Scene> {
  const { rows: posts } = await client.query<{ id: string; author_user_ref: string }>(
    `select id, author_user_ref from posts where deleted_at is null and not draft and visibility = 'public'
      and comments_enabled and comment_count = 0 order by posted_at limit 2`,
  );
  const [watched, quiet] = posts;
  if (watched === undefined || quiet === undefined)
    throw new Error('the corpus has no post without comments');
  await client.query(
    `with crowd as (
      insert into users (username, role_id) select $2 || n, (select role_id from users order by ref limit 1)
      from generate_series(1, ${WATCHERS}) n returning ref)
    insert into post_watches (post_id, user_ref, watching) select $1, ref, true from crowd`,
    [watched.id, MARK],
  );
  const { rows: writers } = await client.query<{ ref: string }>(
    'select ref from users where ref <> all($1) order by ref limit 1',
    [[watched.author_user_ref, quiet.author_user_ref]],
  );
  return { writer: Number(writers[0]?.ref ?? 0), watched: watched.id, quiet: quiet.id };
}

async function cleanUp(client: pg.PoolClient, { watched, quiet }: Scene): Promise<void> {
  await client.query('delete from comments where post_id = any($1)', [[watched, quiet]]);
  await client.query('delete from post_watches where post_id = any($1)', [[watched, quiet]]);
  await client.query('delete from users where username like $1', [`${MARK}%`]);
}

/** Returns the milliseconds until every watcher is notified of this comment. */
async function untilTold(client: pg.PoolClient, comment: string): Promise<number> {
  const began = performance.now();
  for (;;) {
    const { rows } = await client.query<{ told: boolean }>(
      `select count(*) >= ${WATCHERS} as told from notifications where comment_id = $1`,
      [comment],
    );
    if (rows[0]?.told === true) return performance.now() - began;
    if (performance.now() - began > 60_000) throw new Error('not everybody was told within a minute');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Waits until no job is left, so that rounds do not influence each other. */
async function untilIdle(client: pg.PoolClient): Promise<void> {
  for (let left = 1; left > 0; ) {
    const { rows } = await client.query<{ n: string }>('select count(*) as n from graphile_worker.jobs');
    left = Number(rows[0]?.n ?? 0);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/**
 * `bench notifications`: compares a comment on a post with 5,000 watchers with one on a post without any, and
 * measures the time until all are notified.
 */
export async function benchNotifications(): Promise<void> {
  const directory = await corpusDirectory(POSTS);
  const service = await spawnService(directory);
  const database = joinDatabase(directory);
  const client = await database.pool.connect();
  const scene = await prepare(client);
  try {
    const session = { userRef: scene.writer, days: 1, address: '', userAgent: 'bench' };
    const cookie = `user=${(await startSession(database.db, session)).token}`;
    const write = async (post: string): Promise<string> => {
      const response = await fetch(`${service.address}/api/v1/posts/${post}/comments`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json' },
        body: JSON.stringify({ body: 'a comment' }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${text}`);
      return JSON.parse(text).id;
    };
    const [watched, quiet, telling]: [number[], number[], number[]] = [[], [], []];
    for (let round = -2; round < ROUNDS; round += 1) {
      const atQuiet = performance.now();
      await write(scene.quiet);
      const quietAnswered = performance.now();
      await untilIdle(client);
      const atWatched = performance.now();
      const comment = await write(scene.watched);
      const answered = performance.now();
      const told = await untilTold(client, comment);
      await untilIdle(client);
      // The first two are warm-up rounds.
      if (round < 0) continue;
      quiet.push(quietAnswered - atQuiet);
      watched.push(answered - atWatched);
      telling.push(told);
    }
    const [none, many] = [median(quiet), median(watched)];
    console.log(
      `a comment where ${WATCHERS} watch: ${many.toFixed(1)} ms, where nobody does ${none.toFixed(1)} ms, ratio ${(many / none).toFixed(2)}`,
    );
    console.log(`until all ${WATCHERS} are told: ${median(telling).toFixed(0)} ms`);
  } finally {
    await cleanUp(client, scene);
    client.release();
    await database.close();
    await service.stop();
  }
}
