import { startSession } from '@vitrine/server/sessions';
import type pg from 'pg';
import { USERS } from './corpus.ts';
import { joinDatabase, spawnService } from './library.ts';
import { type Load, load, median } from './load.ts';

const LIMIT = 24;
const ROUNDS = 5;
const MANY = 300;
/** The number of the oldest posts given to the quiet teams and people. */
const OLDEST = 30_000;

/** A reader whose feed is requested: the teams they belong to, or the people they follow. */
interface Scene {
  reader: string;
  feed: 'team' | 'following';
  /** The teams or people, as a condition on `teams t` or `users u`. */
  of: string;
}

const named = (beginning: string, most: number) =>
  `substring(t.slug from '^${beginning}-(\\d+)$')::int <= ${most}`;
const quietPeople = (most: number) => `substring(u.username from '^quiet-(\\d+)$')::int <= ${most}`;

const scenes: readonly Scene[] = [
  { reader: 'no team', feed: 'team', of: 'false' },
  { reader: 'the team with most posts', feed: 'team', of: named('most', 1) },
  { reader: 'a team like others', feed: 'team', of: named('some', 1) },
  { reader: 'a team whose many posts are old', feed: 'team', of: named('old', 1) },
  { reader: 'a team with ten old posts', feed: 'team', of: named('quiet', 1) },
  { reader: '20 teams', feed: 'team', of: named('some', 20) },
  { reader: '20 teams with few old posts', feed: 'team', of: named('quiet', 20) },
  { reader: '300 teams', feed: 'team', of: named('some', MANY) },
  { reader: '300 teams with few old posts', feed: 'team', of: named('quiet', MANY) },
  {
    reader: '300 teams and the one with most posts',
    feed: 'team',
    of: `${named('some', MANY)} or ${named('most', 1)}`,
  },
  { reader: 'nobody', feed: 'following', of: 'false' },
  { reader: '1 person', feed: 'following', of: 'u.ref = 77' },
  { reader: '50 people', feed: 'following', of: 'u.ref between 100 and 149' },
  { reader: '2,000 people', feed: 'following', of: `u.ref <= ${USERS}` },
  { reader: '1 person with an old post', feed: 'following', of: quietPeople(1) },
  { reader: '50 people with an old post each', feed: 'following', of: quietPeople(50) },
  { reader: '2,000 people with an old post each', feed: 'following', of: quietPeople(2000) },
];

/** Creates teams of every size, people with only old posts, and the readers of all scenes, once per copy. */
async function prepare(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ posts: number; done: boolean }>(
    `select (select count(*) from posts)::int as posts, exists (select from teams where slug = 'most-1') as done`,
  );
  const [{ posts, done } = { posts: 0, done: true }] = rows;
  if (done) return;
  await client.query('set statement_timeout = 0; set synchronous_commit = off');
  const team = (name: string, n: string) => `md5('team ${name}-' || ${n})::uuid`;
  await client.query(`insert into teams (id, slug, name)
    select md5('team ' || slug)::uuid, slug, slug from (
      select 'most-1' as slug union all select 'old-1'
      union all select kind || '-' || n from unnest(array['some', 'quiet']) kind, generate_series(1, ${MANY}) n) made`);
  await client.query(`insert into users (username, role_id)
    select 'quiet-' || n, (select role_id from users order by ref limit 1) from generate_series(1, 2000) n`);
  await client.query('set session_replication_role = replica');
  await client.query(`update posts p set
      team_id = case when i % 10 < 6 then ${team('most', '1')} when i % 10 < 8 then ${team('some', `(1 + i % ${MANY})`)}
        when i % 10 = 8 and i > ${posts / 2} then ${team('old', '1')}
        when i % 10 = 9 and i > ${posts - OLDEST} then ${team('quiet', `(1 + (i / 10) % ${MANY})`)} end,
      author_user_ref = case when i % 15 = 4 and i > ${posts - OLDEST} then quiet.first + (i / 15) % 2000
        else author_user_ref end
    from generate_series(1, ${posts}) i, (select min(ref) as first from users where username like 'quiet-%') quiet
    where p.id = md5('post' || i)::uuid`);
  await client.query('reset session_replication_role');
  for (const { reader, feed, of } of scenes) {
    await client.query(
      `insert into users (username, role_id) select $1, (select role_id from users order by ref limit 1)`,
      [`${feed} ${reader}`],
    );
    const me = `(select ref from users where username = '${feed} ${reader}')`;
    await client.query(
      feed === 'team'
        ? `insert into team_members (team_id, user_ref) select t.id, ${me} from teams t where ${of}`
        : `insert into user_follows (follower_user_ref, followed_user_ref) select ${me}, u.ref from users u where ${of}`,
    );
  }
  await client.query('vacuum analyze');
}

interface Beside {
  asked: Load;
  plain: Load;
}

/**
 * `bench feeds --directory <copy>`: compares the feeds of teams and of followed people with the reader's plain feed.
 */
export async function benchFeeds(seconds: number, directory: string): Promise<void> {
  const service = await spawnService(directory);
  const database = joinDatabase(directory);
  const client = await database.pool.connect();
  try {
    await prepare(client);
    const measured = new Map<Scene, Beside[]>();
    const api = `${service.address}/api/v1/posts?limit=${LIMIT}`;
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const scene of scenes) {
        const { rows } = await client.query<{ ref: number }>(
          'select ref::int from users where username = $1',
          [`${scene.feed} ${scene.reader}`],
        );
        const session = { userRef: rows[0]?.ref ?? 0, days: 1, address: '', userAgent: 'bench' };
        const headers = { cookie: `user=${(await startSession(database.db, session)).token}` };
        const asked = await load(`${api}&feed=${scene.feed}`, headers, seconds / ROUNDS);
        const plain = await load(api, headers, seconds / ROUNDS);
        // The first round is a warm-up.
        if (round >= 0) measured.set(scene, [...(measured.get(scene) ?? []), { asked, plain }]);
      }
    }
    console.log(
      '| feed | of | p50 ms | p95 ms | plain p50 ms | p50 to the plain feed’s | p95 to the plain feed’s |',
    );
    console.log('|---|---|---|---|---|---|---|');
    for (const [{ reader, feed }, rounds] of measured) {
      const of = (value: (one: Beside) => number, digits: number) =>
        median(rounds.map(value)).toFixed(digits);
      const cells = [
        of(({ asked }) => asked.p50, 1),
        of(({ asked }) => asked.p95, 1),
        of(({ plain }) => plain.p50, 1),
        of(({ asked, plain }) => asked.p50 / plain.p50, 2),
        of(({ asked, plain }) => asked.p95 / plain.p95, 2),
      ];
      console.log(`| ${feed} | ${reader} | ${cells.join(' | ')} |`);
    }
  } finally {
    client.release();
    await database.close();
    await service.stop();
  }
}
