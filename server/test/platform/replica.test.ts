import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlain, type Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import pg from 'pg';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { openService } from '../../src/boot/service.ts';
import { readConfig } from '../../src/core/config.ts';
import { createAccount } from '../../src/people/identity/accounts.ts';
import { openHashing } from '../../src/people/identity/hashing.ts';
import { startSession } from '../../src/people/identity/sessions.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openReplicaOf } from '../../src/platform/database/open.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { walPosition } from '../../src/platform/database/replica.ts';
import { openStorage } from '../../src/platform/storage/open.ts';
import { type Visitor, visit } from '../support/client.ts';
import { urlOf } from '../support/clone.ts';
import { publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { type ReplicatedServer, startReplicated } from '../support/replica.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const token = 'a-token-for-prometheus';

/** Starts a service with its own connections to the primary and the replica, like another process. */
async function serve(servers: ReplicatedServer, dataDir: string) {
  const config = readConfig(
    {
      VITRINE_DATA: dataDir,
      VITRINE_LOG_LEVEL: 'silent',
      VITRINE_RATE_LIMITS: 'off',
      VITRINE_RESERVE_BYTES: '0',
      VITRINE_METRICS_TOKEN: token,
      DATABASE_URL: urlOf(servers.primary),
      VITRINE_DATABASE_REPLICA_URL: urlOf(servers.replica),
    },
    dataDir,
  );
  const pool = openPool(servers.primary, 4);
  const said: string[] = [];
  const replica = openReplicaOf(config, (message) => said.push(message));
  const { server, deps } = await openService({
    db: pool.db,
    listener: pool.listener,
    storage: await openStorage(join(dataDir, 'library'), 0, null),
    config,
    replica,
    hashing: openHashing(4),
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const metrics = async () => {
    const response = await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    return response.text();
  };
  return {
    address,
    passwords: deps.passwords,
    log: deps.log,
    /** Log messages about its replica. */
    said,
    metrics,
    /** Returns the reads that a replica may serve, by the server that answered. */
    async reads() {
      const lines = (await metrics()).matchAll(/^vitrine_replica_reads_total\{.*server="(\w+)".*\} (\d+)$/gm);
      const counts = new Map([...lines].map(([, by, count]) => [by, Number(count)]));
      const readsBy = (by: string) => counts.get(by) ?? Number.NaN;
      return { replica: readsBy('replica'), primary: readsBy('primary'), repeated: readsBy('repeated') };
    },
    async replicaCheck(): Promise<string> {
      const response = await fetch(`${address}/readyz`);
      expect(response.status).toBe(200);
      return (await response.json()).checks.replica;
    },
    async close() {
      await server.close();
      await Promise.all([deps.decoders.close(), deps.metadata.close()]);
      await replica?.close();
      await pool.close();
    },
  };
}

type Serving = Awaited<ReturnType<typeof serve>>;

const people = new Map<string, { ref: number; token: string }>();
const accounts = [
  ['root', 'admin'],
  ['ann', 'member'],
  ['bob', 'member'],
] as const;

const dataDir = await temporaryDirectory();
const servers = await startReplicated(async (primary) => {
  const pool = openPool(primary, 2);
  await migrate(pool.pool);
  await pool.close();
});
const one = await serve(servers, dataDir);
const two = await serve(servers, dataDir);
const pool = openPool(servers.primary, 1);
for (const [username, role] of accounts) {
  const userRef = await createAccount(pool.db, one.passwords, { username, password: null, role });
  if (userRef === null) throw new Error(`${username} is taken`);
  const session = { userRef, days: 1, address: '127.0.0.1', userAgent: 'test' };
  people.set(username, { ref: userRef, token: (await startSession(pool.db, session)).token });
}
await pool.close();

afterAll(async () => {
  await Promise.all([one.close(), two.close()]);
  await servers.stop();
});

const as = (name: string, service: Serving): Visitor => visit(service.address, {}, people.get(name)?.token);

/** Waits until the replica serves this caller's reads. */
async function untilServed(name: string, service: Serving): Promise<void> {
  await expect
    .poll(() => readsDuring(service, () => as(name, service).ok('listTags', {})))
    .toMatchObject({ replica: 1 });
}

/** Runs `work` and returns which server answered its reads. */
async function readsDuring(service: Serving, work: () => Promise<unknown>) {
  const before = await service.reads();
  await work();
  const after = await service.reads();
  return {
    replica: after.replica - before.replica,
    primary: after.primary - before.primary,
    repeated: after.repeated - before.repeated,
  };
}

async function publishAsAnn() {
  const ann = as('ann', one);
  const asset = await upload(ann, plainFile());
  return { asset, post: await publish(ann, [asset], { title: 'Harbour', tags: ['sea'] }) };
}

/** Returns the doctor's finding about the replica. */
async function replicaFinding() {
  const { checks } = await as('root', one).ok('getDoctor', {});
  return checks.find(({ code }) => code === 'database_replica');
}

/** Runs `work` while the replica stays at its present state. */
async function whilePaused(work: () => Promise<void>): Promise<void> {
  await servers.administerReplica('select pg_wal_replay_pause()');
  await work().finally(() => servers.administerReplica('select pg_wal_replay_resume()'));
}

describe('a streaming replica', () => {
  // REPLICA-1, REPLICA-5
  test('serves reads, and readiness, log and metrics say so', async () => {
    await untilServed('ann', one);
    expect(await one.replicaCheck()).toBe('ok');
    expect(one.said.at(-1)).toBe('the replica serves reads');
  });

  // REPLICA-2
  test('never hides a write from its author, and never shows anyone what a write has taken away', async () => {
    const [{ post }, gone] = [await publishAsAnn(), await publishAsAnn()];
    const { token: secret } = await as('ann', one).ok('createToken', {
      body: { name: 'script', scopes: ['read', 'posts.write'] },
    });
    const script = (service: Serving) => visit(service.address, { authorization: `Bearer ${secret}` });
    await untilServed('ann', one);
    await untilServed('ann', two);
    await untilServed('bob', two);
    await as('bob', two).ok('getPost', { params: { id: gone.post.id } });
    const params = { id: post.id };
    await whilePaused(async () => {
      const [written] = await Promise.all([
        as('ann', one).ok('createComment', { params, body: { body: 'mine' } }),
        as('ann', one).ok('deletePost', { params: { id: gone.post.id }, body: undefined }),
        script(one).ok('likePost', { params }),
      ]);
      const reads = await readsDuring(two, async () => {
        const [listed, refused, ...likes] = await Promise.all([
          as('ann', two).ok('listComments', { params }),
          as('bob', two).refused('getPost', { params: { id: gone.post.id } }),
          script(two).ok('getLike', { params }),
          as('ann', two).ok('getLike', { params }),
        ]);
        expect(listed.items.map(({ id }) => id)).toEqual([written.id]);
        expect(refused.status).toBe(404);
        expect(likes.map(({ liked }) => liked)).toEqual([true, true]);
      });
      expect(reads).toMatchObject({ replica: 0, repeated: 0 });
    });
    await untilServed('ann', two);
  });

  // REPLICA-2
  test('never hides what an impersonated session wrote from it, its account or the administrator', async () => {
    const { post } = await publishAsAnn();
    const params = { id: post.id };
    const mask = as('root', one);
    await mask.ok('impersonate', { params: { ref: people.get('ann')?.ref ?? 0 }, body: undefined });
    await untilServed('bob', two);
    await whilePaused(async () => {
      const { id } = await mask.ok('createComment', { params, body: { body: 'mine' } });
      for (const reader of [visit(two.address, {}, mask.cookie()), as('ann', two), as('root', two)]) {
        const { items } = await reader.ok('listComments', { params });
        expect(items.map((item) => item.id)).toEqual([id]);
      }
    });
  });

  // REPLICA-3
  test('shows others a state of at most a second ago, and is not used while it lags more', async () => {
    const { post } = await publishAsAnn();
    await untilServed('bob', two);
    await whilePaused(async () => {
      const { id } = await as('ann', one).ok('createComment', {
        params: { id: post.id },
        body: { body: 'new' },
      });
      await expect.poll(() => two.replicaCheck()).toBe('not used');
      const reads = await readsDuring(two, async () => {
        const { items } = await as('bob', two).ok('listComments', { params: { id: post.id } });
        expect(items.map((item) => item.id)).toEqual([id]);
      });
      expect(reads).toEqual({ replica: 0, primary: 1, repeated: 0 });
      await expect
        .poll(() => two.said.at(-1))
        .toBe('the replica serves no reads: it lags by more than a second');
    });
    await untilServed('bob', two);
    expect(two.said.at(-1)).toBe('the replica serves reads');
  });

  // REPLICA-4, REPLICA-5
  test('fails no request when its connections break or it stops, and is used again when it returns', async () => {
    await untilServed('ann', one);
    const ann = as('ann', one);
    let done = false;
    const answers = new Set<string>();
    const read = async () => {
      while (!done) {
        const { status, text } = await ann.send('/posts');
        answers.add(status === 200 ? 'ok' : text);
      }
    };
    const readers = Promise.all(Array.from({ length: 2 }, read));
    const during = await readsDuring(one, async () => {
      for (let times = 0; times < 2; times += 1) {
        await servers.administerReplica(`select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid()`);
        const before = await one.reads();
        await expect.poll(async () => (await one.reads()).replica).toBeGreaterThan(before.replica);
      }
      await servers.stopReplica();
      await expect.poll(() => one.replicaCheck()).toBe('not used');
      const { primary } = await one.reads();
      await expect.poll(async () => (await one.reads()).primary).toBeGreaterThan(primary);
      // The log follows with the next poll.
      await expect.poll(() => one.said.at(-1)).toMatch(/^the replica serves no reads: /);
      expect(await replicaFinding()).toMatchObject({ status: 'warning' });
      await servers.startReplica();
      await expect.poll(() => one.replicaCheck()).toBe('ok');
    }).finally(() => {
      done = true;
      return readers;
    });
    expect(answers).toEqual(new Set(['ok']));
    expect(during.repeated).toBeGreaterThan(0);
    expect(one.said.at(-1)).toBe('the replica serves reads');
    expect(one.said.join()).not.toContain(servers.replica.password);
    expect(await replicaFinding()).toMatchObject({ status: 'ok' });
    await untilServed('ann', one);
  });
});

/** Returns addresses of every operation that a replica may serve. */
async function markedRequests(): Promise<string[]> {
  const root = as('root', one);
  const { post, asset } = await publishAsAnn();
  const comment = await root.ok('createComment', { params: { id: post.id }, body: { body: 'sea' } });
  const collection = await root.ok('createCollection', { body: { name: 'Sea' } });
  await root.ok('addToCollection', { params: { id: collection.id, post_id: post.id } });
  const strokes = [{ points: [[0.1, 0.2]], color: '#ff0000', width: 0.01 }];
  const board = await root.ok('createWhiteboard', { params: { id: post.id }, body: { strokes } });
  const team = await root.ok('createTeam', { body: { name: 'Divers', slug: 'divers' } });
  const other = await upload(as('ann', one), plainFile());
  const stack = await root.ok('createStack', { body: { asset_ids: [asset.id, other.id] } });
  const { id: field } = await root.ok('createField', {
    body: { code: 'depth', label: 'Depth', type: 'select' },
  });
  const ids: Record<string, string> = {
    assets: asset.id,
    'by-asset': asset.id,
    posts: post.id,
    comments: comment.id,
    whiteboards: board.id,
    collections: collection.id,
    teams: team.id,
    fields: field,
    stacks: stack.id,
  };
  const queries: Record<string, string[]> = {
    search: ['?q=harbour', '?q=sea+harbour', '?kind=asset&q=harbour'],
    suggest: ['?q=har'],
    listPosts: ['', '?q=harbour', '?feed=team', '?feed=following', '?feed=trending', '?tag=sea'],
    listAssets: ['', '?q=harbour', '?sort=title', '?sort=largest'],
    listFieldValues: ['', '?q=a'],
    listTags: ['', '?q=se'],
    listPlaces: ['?bbox=-180,-90,180,90&zoom=2'],
  };
  const marked = Object.values<Operation>(operations).filter(({ replica }) => replica === true);
  return marked.flatMap((operation) => {
    const path = operation.path
      .replace(/([\w-]+)\/\{id\}/, (_, kind: string) => `${kind}/${ids[kind]}`)
      .replace('{tag}', 'sea')
      .replace('{username}', 'ann')
      .replace('{ref}', String(people.get('ann')?.ref))
      .replace('{field_id}', field);
    return (queries[operation.id] ?? ['']).map((query) => path + query);
  });
}

// REPLICA-1
test('operations that a replica may serve write nothing', async () => {
  const requests = await markedRequests();
  await untilServed('root', one);
  const root = as('root', one);
  // Retries, because the primary serves reads while the replica of a busy machine lags.
  const readAll = async () => {
    const { repeated, ...reads } = await readsDuring(one, async () => {
      for (const path of requests) expect([path, (await root.send(path)).status]).toEqual([path, 200]);
    });
    // A statement that writes is refused by the replica, and its request is repeated.
    expect(repeated).toBe(0);
    return reads.primary === 0 && reads.replica >= requests.length;
  };
  await expect.poll(readAll).toBe(true);
});

// REPLICA-1
test('operations that a replica may serve are reads of JSON behind a credential or public mode', () => {
  const all = Object.values<Operation>(operations);
  for (const { id, method, door, responses } of all.filter(({ replica }) => replica === true))
    expect({ id, method, open: door === 'open', plain: Object.values(responses).some(isPlain) }).toEqual({
      id,
      method: 'GET',
      open: false,
      plain: false,
    });
  for (const { id, method } of all.filter(({ seenBy }) => seenBy !== undefined))
    expect([id, method]).not.toContain('GET');
});

// REPLICA-5
test('metrics of the replica that deployment files name are reported', async () => {
  const reported = await one.metrics();
  for (const path of ['deploy/grafana/vitrine.json', 'deploy/prometheus/alerts.yml']) {
    const file = await readFile(join(import.meta.dirname, '../../..', path), 'utf8');
    const names = file.match(/\bvitrine_replica_[a-z_]+\b/g) ?? [];
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(reported).toContain(`\n${name}{`);
  }
});

// REPLICA-3
test('positions of the log compare', () => {
  expect(walPosition('1/10')).toBeGreaterThan(walPosition('0/FFFFFFFF'));
  // The start of an empty page, before and after its header.
  expect(walPosition('0/3000018')).toBe(walPosition('0/3000000'));
});

/** Reads the comments until such a read takes long on the replica; the primary answers some. */
async function readOnReplica(onReplica: pg.Client, id: string) {
  for (;;) {
    let hasAnswered = false;
    const reading = as('ann', one)
      .ok('listComments', { params: { id } })
      .finally(() => {
        hasAnswered = true;
      });
    while (!hasAnswered) {
      const { rows } = await onReplica.query(`select from pg_stat_activity where wait_event = 'PgSleep'`);
      if (rows.length > 0) return { reading };
    }
    await reading;
  }
}

// REPLICA-4
test('repeats a read on the primary that a vacuum there cancels on the replica', async () => {
  const { post } = await publishAsAnn();
  await as('ann', one).ok('createComment', { params: { id: post.id }, body: { body: 'mine' } });
  // Replay cancels queries in its way immediately instead of waiting up to 30 seconds for them.
  await servers.administerReplica("alter system set max_standby_streaming_delay = '0'");
  await servers.administerReplica('select pg_reload_conf()');
  await servers.onPrimary('create table discarded (number integer)');
  // Comments take long to read on the replica only.
  await servers.onPrimary(`alter table comments rename to kept_comments;
    create view comments as select * from kept_comments where
      (select case when pg_is_in_recovery() then pg_sleep(30)::text else '' end) is not null`);
  const onReplica = new pg.Client(servers.replica);
  await onReplica.connect();
  const warn = vi.spyOn(one.log, 'warn');
  try {
    let error: unknown;
    // A read that takes two seconds is repeated before it is cancelled.
    for (let attempt = 0; error === undefined && attempt < 5; attempt += 1) {
      await untilServed('ann', one);
      await servers.onPrimary('insert into discarded select generate_series(1, 1000)');
      const { reading } = await readOnReplica(onReplica, post.id);
      await servers.onPrimary('delete from discarded');
      await servers.onPrimary('vacuum discarded');
      expect((await reading).items.map(({ body }) => body)).toEqual(['mine']);
      const [context, message] = warn.mock.calls.at(-1) ?? [];
      if (message === 'a read failed on the replica') error = Object(context).err;
    }
    expect(error).toMatchObject({ code: '40001' });
  } finally {
    warn.mockRestore();
    await onReplica.end();
    await servers.onPrimary('drop view comments; alter table kept_comments rename to comments');
  }
});

// REPLICA-4, REPLICA-5: the last test, because a promoted server does not become a replica again.
test('a promoted replica serves no more reads', async () => {
  await untilServed('ann', one);
  await servers.administerReplica('select pg_promote()');
  await expect
    .poll(() => one.said.at(-1))
    .toBe('the replica serves no reads: it is not a replica any more: it accepts writes');
  expect(await one.replicaCheck()).toBe('not used');
  const { post } = await publishAsAnn();
  const reads = await readsDuring(one, () => as('bob', one).ok('getPost', { params: { id: post.id } }));
  expect(reads).toEqual({ replica: 0, primary: 1, repeated: 0 });
  expect(await replicaFinding()).toMatchObject({ status: 'warning' });
});
