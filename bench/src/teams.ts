import { deepStrictEqual } from 'node:assert';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startSession } from '@vitrine/server/sessions';
import type pg from 'pg';
import { fillCorpus, USERS } from './corpus.ts';
import { joinDatabase, keptLibrary, spawnServer, spawnService } from './library.ts';
import { type Load, load, median } from './load.ts';
import { allRequestsSql, followedSql, incomingSql, teamsSql } from './reference-teams-sql.ts';

const POSTS = 50_000;
const TEAMS = 5_000;
const FOLLOWED = 200;
const REQUESTS = 100_000;
const PAGE = 200;
const ROUNDS = 3;
/** A member who follows teams and owns assets that others request. */
const READER = 42;
/** A member without incoming requests, which is the slowest query with the shortest response. */
const UNASKED = 43;
const ADMIN = 1;

/**
 * Creates 5,000 teams with members, followers, parents, pictures and content, and 100,000 requests, 500 of them to
 * the reader.
 */
const statements = [
  `insert into teams (id, slug, name, description, created_at, updated_at, deleted_at)
    select md5('team' || n)::uuid, 'team-' || n, 'Team ' || md5('name' || n), 'What they make.',
      now() - make_interval(mins => n), now() - make_interval(mins => n), case when n % 50 = 0 then now() end
    from generate_series(1, ${TEAMS}) n`,
  `insert into team_members (team_id, user_ref)
    select md5('team' || n)::uuid, 1 + (n * 7 + j * 31) % ${USERS} from generate_series(1, ${TEAMS}) n, generate_series(1, 8) j
    on conflict do nothing`,
  `insert into team_follows (team_id, user_ref)
    select md5('team' || (1 + (u * 13 + j * 17) % ${TEAMS}))::uuid, u
    from generate_series(1, ${USERS}) u, generate_series(1, case when u = ${READER} then ${FOLLOWED} else 20 end) j
    on conflict do nothing`,
  `insert into team_parents (team_id, parent_id)
    select md5('team' || n)::uuid, md5('team' || (n / 10))::uuid from generate_series(10, ${TEAMS}) n`,
  `update assets set team_id = md5('team' || (1 + abs(hashtext(id::text)) % ${TEAMS}))::uuid`,
  `update teams t set hero_asset_id = (select a.id from assets a where a.team_id = t.id limit 1)`,
  `update assets set deleted_at = now(), deleted_by_user_ref = 1 + abs(hashtext(id::text)) % ${USERS}
    where abs(hashtext(id::text || 'x')) % 100 = 0`,
  `insert into resource_requests (requester_user_ref, target_kind, target_id, requested_capability, reason, state, requested_at, decided_at, decided_by_user_ref)
    select 1 + n % ${USERS}, 'asset', a.id, case when a.deleted_at is null then 'content.access.request' else 'content.restore.request' end,
      'Because of number ' || n, s.state, now() - make_interval(secs => n * 30), case when s.state <> 'pending' then now() end,
      case when s.state <> 'pending' then ${ADMIN} end
    from (select row_number() over (order by md5(id::text)) as n, * from assets
      where owner_user_ref not in (${READER}, ${UNASKED}) limit ${REQUESTS - 500}) a,
      lateral (select (array['pending', 'granted', 'denied', 'expired'])[1 + n % 4] as state) s`,
  `insert into resource_requests (requester_user_ref, target_kind, target_id, requested_capability, requested_at)
    select 100 + n, 'asset', (select id from assets where owner_user_ref = ${READER} and deleted_at is null order by id offset n % 20 limit 1),
      'content.access.request', now() - make_interval(hours => n::integer) from generate_series(1, 500) n`,
  `insert into user_capability_grants (user_ref, capability) values (${ADMIN}, 'system.admin')`,
  `insert into user_capability_grants (user_ref, capability, request_ref, expires_at)
    select requester_user_ref, requested_capability, id, now() + interval '30 days' from resource_requests where state = 'granted'`,
];

async function fill(pool: pg.Pool): Promise<void> {
  await fillCorpus(pool, { posts: POSTS }, console.log);
  const client = await pool.connect();
  await client.query('set statement_timeout = 0');
  for (const statement of statements) {
    const began = performance.now();
    const { rowCount } = await client.query(statement);
    console.log(
      `  ${statement.slice(0, 40)}…: ${rowCount} in ${((performance.now() - began) / 1000).toFixed(1)} s`,
    );
  }
  await client.query('vacuum analyze');
  client.release();
}

interface Question {
  what: string;
  path: string;
  caller: number;
  sql: string;
  values: (number | string)[];
}

const questions: readonly Question[] = [
  {
    what: 'followed teams',
    path: '/auth/me/followed-teams',
    caller: READER,
    sql: followedSql,
    values: [READER],
  },
  { what: 'teams, 200', path: `/teams?limit=${PAGE}`, caller: READER, sql: teamsSql, values: [PAGE] },
  {
    what: 'incoming, 500',
    path: `/account/requests/incoming?limit=${PAGE}`,
    caller: READER,
    sql: incomingSql,
    values: [READER, PAGE],
  },
  {
    what: 'incoming, none',
    path: `/account/requests/incoming?limit=${PAGE}`,
    caller: UNASKED,
    sql: incomingSql,
    values: [UNASKED, PAGE],
  },
  {
    what: 'all requests',
    path: `/admin/requests?limit=${PAGE}`,
    caller: ADMIN,
    sql: allRequestsSql,
    values: [PAGE],
  },
];

/**
 * Normalises a page for comparison: removes keys without a value and the differences between the two ways to write
 * UTC.
 */
function normalised(text: string): unknown {
  const body: unknown = JSON.parse(text.replaceAll('+00:00"', 'Z"'), (_, value) =>
    value === null ? undefined : value,
  );
  return typeof body === 'object' && body !== null && 'items' in body ? body.items : body;
}

function summary(loads: readonly Load[]): Load {
  return {
    requestsPerSecond: median(loads.map((one) => one.requestsPerSecond)),
    p50: median(loads.map((one) => one.p50)),
    p95: median(loads.map((one) => one.p95)),
  };
}

interface Compared {
  service: Load;
  reference: Load;
}

async function compare(
  { path, sql, values }: Question,
  { address, directory, token }: { address: string; directory: string; token: string },
  seconds: number,
): Promise<Compared> {
  const script = join(import.meta.dirname, 'reference-page.ts');
  const reference = await spawnServer([script, directory, sql, JSON.stringify(values)], {});
  try {
    const url = `${address}/api/v1${path}`;
    const headers = { cookie: `user=${token}` };
    const [ours, theirs] = await Promise.all([fetch(url, { headers }), fetch(reference.address)]);
    deepStrictEqual(normalised(await ours.text()), normalised(await theirs.text()));
    await load(url, headers, 1);
    await load(reference.address, {}, 1);
    const [services, references]: [Load[], Load[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      services.push(await load(url, headers, seconds));
      references.push(await load(reference.address, {}, seconds));
    }
    return { service: summary(services), reference: summary(references) };
  } finally {
    await reference.stop();
  }
}

async function keepPlan(client: pg.PoolClient, { what, sql, values }: Question): Promise<void> {
  const text = values.reduce<string>(
    (so, value, index) => so.replaceAll(`$${index + 1}`, String(value)),
    sql,
  );
  const { rows } = await client.query(`explain (analyze, buffers, verbose off) ${text}`);
  const plans = join(import.meta.dirname, '../plans');
  await mkdir(plans, { recursive: true });
  const lines = rows.map((row: Record<string, unknown>) => String(row['QUERY PLAN']));
  await writeFile(join(plans, `${what.replace(/\W+/g, '-')}.txt`), `${lines.join('\n')}\n`);
}

/** `bench teams`: compares followed teams, the list of teams and both queues of requests with their references. */
export async function benchTeams(seconds: number): Promise<void> {
  const directory = await keptLibrary(`teams-${TEAMS}-${REQUESTS}`, fill);
  const service = await spawnService(directory);
  const database = joinDatabase(directory);
  const client = await database.pool.connect();
  try {
    console.log('\npage              service req/s   reference req/s   ratio   service p95   reference p95');
    for (const question of questions) {
      const session = { userRef: question.caller, days: 1, address: '', userAgent: 'bench' };
      const { token } = await startSession(database.db, session);
      const measured = await compare(question, { address: service.address, directory, token }, seconds);
      const { service: ours, reference } = measured;
      const cells = [
        question.what.padEnd(18),
        ours.requestsPerSecond.toFixed(0).padEnd(16),
        reference.requestsPerSecond.toFixed(0).padEnd(18),
        (ours.requestsPerSecond / reference.requestsPerSecond).toFixed(2).padEnd(8),
        `${ours.p95.toFixed(1)} ms`.padEnd(14),
        `${reference.p95.toFixed(1)} ms`,
      ];
      console.log(cells.join(''));
      await keepPlan(client, question);
    }
  } finally {
    client.release();
    await database.close();
    await service.stop();
  }
}
