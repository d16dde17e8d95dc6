import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { Deps } from '../../src/deps.ts';
import { createAccount } from '../../src/identity/accounts.ts';
import { openHashing } from '../../src/identity/hashing.ts';
import { startSession } from '../../src/identity/sessions.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openReplicaOf } from '../../src/platform/database/open.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { openStorage } from '../../src/platform/storage/open.ts';
import { openService } from '../../src/service.ts';
import { type Visitor, visit } from '../support/client.ts';
import { urlOf } from '../support/clone.ts';
import { publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type ReplicatedServer, startReplicated } from '../support/replica.ts';

interface Serving {
  address: string;
  deps: Deps;
  /** Waits until the replica serves reads. */
  untilReplicated(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a service with its own connections to the primary and the replica, like another process. */
async function serve(servers: ReplicatedServer, dataDir: string): Promise<Serving> {
  const config = readConfig(
    {
      VITRINE_DATA: dataDir,
      VITRINE_LOG_LEVEL: 'silent',
      VITRINE_RATE_LIMITS: 'off',
      VITRINE_RESERVE_BYTES: '0',
      DATABASE_URL: urlOf(servers.primary),
      VITRINE_DATABASE_REPLICA_URL: urlOf(servers.replica),
    },
    dataDir,
  );
  const pool = openPool(servers.primary, 4);
  const replica = openReplicaOf(config, () => {});
  if (replica === null) throw new Error('a replica is configured');
  const { server, deps } = await openService({
    db: pool.db,
    listener: pool.listener,
    storage: await openStorage(join(dataDir, 'library'), 0, null),
    config,
    replica,
    hashing: openHashing(4),
  });
  return {
    address: await server.listen({ host: '127.0.0.1', port: 0 }),
    deps,
    untilReplicated: () => expect.poll(() => replica.state().usable, { timeout: 20_000 }).toBe(true),
    async close() {
      await server.close();
      await Promise.all([deps.decoders.close(), deps.metadata.close()]);
      await replica.close();
      await pool.close();
    },
  };
}

interface Person {
  ref: number;
  token: string;
}

let servers: ReplicatedServer;
let dataDir: string;
let one: Serving;
let two: Serving;
let root: Person;
let ann: Person;
let post: string;

async function addPerson(username: string, role: 'admin' | 'member'): Promise<Person> {
  const { db, passwords } = one.deps;
  const ref = await createAccount(db, passwords, { username, password: null, role });
  if (ref === null) throw new Error(`${username} is taken`);
  const session = { userRef: ref, days: 1, address: '127.0.0.1', userAgent: 'test' };
  return { ref, token: await startSession(db, session) };
}

const as = (token: string | undefined, { address }: Serving): Visitor => visit(address, {}, token);

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'vitrine-replica-conflicts-'));
  // Replay cancels queries in its way immediately instead of waiting up to 30 seconds for them.
  const settings = { max_standby_streaming_delay: '0' };
  servers = await startReplicated(async (primary) => {
    const pool = openPool(primary, 2);
    await migrate(pool.pool);
    await pool.close();
  }, settings);
  [one, two] = [await serve(servers, dataDir), await serve(servers, dataDir)];
  [root, ann] = [await addPerson('root', 'admin'), await addPerson('ann', 'member')];
  const author = as(ann.token, one);
  post = (await publish(author, [await upload(author, await jpeg(64, 48))])).id;
});

afterAll(async () => {
  await Promise.all([one?.close(), two?.close()]);
  await servers?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

// REPLICA-2
test('never hides what an impersonated session wrote from it, its account or the administrator', async () => {
  const mask = as(root.token, one);
  await mask.ok('impersonate', { params: { ref: ann.ref }, body: undefined });
  await two.untilReplicated();
  await servers.onReplica('select pg_wal_replay_pause()');
  try {
    const { id } = await mask.ok('createComment', { params: { id: post }, body: { body: 'mine' } });
    for (const token of [mask.cookie(), ann.token, root.token]) {
      const { items } = await as(token, two).ok('listComments', { params: { id: post } });
      expect(items.map((item) => item.id)).toEqual([id]);
    }
  } finally {
    await servers.onReplica('select pg_wal_replay_resume()');
  }
});

/** Reads the comments until such a read takes long on the replica; the primary answers some. */
async function readOnReplica(onReplica: pg.Client) {
  for (;;) {
    let hasAnswered = false;
    const reading = as(ann.token, one)
      .ok('listComments', { params: { id: post } })
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

/**
 * Removes rows that a read on the replica may still see. Returns the error for which the read was repeated on the primary;
 * null when it took too long.
 */
async function errorOfRead(onReplica: pg.Client): Promise<unknown> {
  await one.untilReplicated();
  await servers.onPrimary('insert into discarded select generate_series(1, 1000)');
  const warn = vi.spyOn(one.deps.log, 'warn');
  try {
    const { reading } = await readOnReplica(onReplica);
    await servers.onPrimary('delete from discarded');
    await servers.onPrimary('vacuum discarded');
    expect((await reading).items.map(({ body }) => body)).toEqual(['mine']);
    const [context, message] = warn.mock.calls.at(-1) ?? [];
    if (message !== 'a read failed on the replica') return null;
    return typeof context === 'object' && context !== null && 'err' in context ? context.err : null;
  } finally {
    warn.mockRestore();
  }
}

// REPLICA-4: the last test, because it replaces a table.
test('repeats a read on the primary that a vacuum there cancels on the replica', async () => {
  await servers.onPrimary('create table discarded (number integer)');
  // Comments take long to read on the replica only.
  await servers.onPrimary(`alter table comments rename to kept_comments;
    create view comments as select * from kept_comments where
      (select case when pg_is_in_recovery() then pg_sleep(30)::text else '' end) is not null`);
  const onReplica = new pg.Client(servers.replica);
  await onReplica.connect();
  try {
    let error: unknown = null;
    // A read that takes two seconds is repeated before it is cancelled.
    for (let attempt = 0; error === null && attempt < 5; attempt += 1) error = await errorOfRead(onReplica);
    expect(error).toMatchObject({ code: '40001' });
  } finally {
    await onReplica.end();
  }
});
