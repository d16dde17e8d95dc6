import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServing } from '../../src/boot/main.ts';
import { readConfig } from '../../src/core/config.ts';
import { openPoolerPool, type PoolerPool } from '../../src/platform/database/pool.ts';
import { DatabaseUnusable } from '../../src/platform/database/unusable.ts';
import { type Clone, cloneTemplate } from '../support/clone.ts';
import { rootSettings } from '../support/first-admin.ts';
import { type PgBouncer, pgbouncer, startPgBouncer } from '../support/pgbouncer.ts';

const title =
  pgbouncer === null
    ? 'behind PgBouncer (skipped: Debian’s package pgbouncer is not installed)'
    : 'behind PgBouncer with transaction pooling';
const tellsWhat =
  /^DATABASE_URL: a connection pooler answers there.*; set VITRINE_DATABASE_POOLING=transaction, and VITRINE_DATABASE_DIRECT_URL to PostgreSQL itself$/;

describe.skipIf(pgbouncer === null)(title, () => {
  let clone: Clone;
  let other: Clone;
  /** PgBouncer with Debian's configuration except for the mode, and with fewer server connections than clients. */
  let bouncer: PgBouncer;
  let dataDir: string;
  const stops: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    [clone, other] = [await cloneTemplate(), await cloneTemplate()];
    dataDir = await mkdtemp(join(tmpdir(), 'vitrine-bounced-'));
    // The defaults of the server's sessions.
    const client = new pg.Client(clone.settings);
    await client.connect();
    await client.query(`alter database ${clone.settings.database} set TimeZone = 'Asia/Kolkata'`);
    await client.end();
    bouncer = await startPgBouncer(clone.settings, { default_pool_size: '4' });
  });

  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
    await bouncer.stop();
    for (const database of [clone, other]) await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Starts a service with these settings, which stops after the tests; returns its address. */
  async function start(env: Record<string, string>): Promise<string> {
    const own = { VITRINE_DATA: dataDir, VITRINE_LOG_LEVEL: 'warn', VITRINE_RATE_LIMITS: 'off' };
    const running = await startServing(
      readConfig({ ...own, ...rootSettings, VITRINE_PORT: '0', ...env }, dataDir),
    );
    stops.push(running.stop);
    return running.url ?? '';
  }

  const refusalOf = (env: Record<string, string>) =>
    start(env).catch((error: unknown) => (error instanceof DatabaseUnusable ? error.message : error));

  // SETTING-8
  test('refuses a pooler or another database in place of PostgreSQL itself, in one line', async () => {
    const lax = await startPgBouncer(clone.settings, { ignore_startup_parameters: 'options' });
    stops.push(lax.stop);
    for (const { url } of [bouncer, lax]) expect(await refusalOf({ DATABASE_URL: url })).toMatch(tellsWhat);
    const behind = { DATABASE_URL: bouncer.url, VITRINE_DATABASE_POOLING: 'transaction' };
    expect(await refusalOf({ ...behind, VITRINE_DATABASE_DIRECT_URL: lax.url })).toBe(
      'VITRINE_DATABASE_DIRECT_URL: a connection pooler answers there; it must lead to PostgreSQL itself',
    );
    expect(await refusalOf({ ...behind, VITRINE_DATABASE_DIRECT_URL: other.url })).toBe(
      'VITRINE_DATABASE_DIRECT_URL: it leads to another database than DATABASE_URL does',
    );
  });

  // RUN-11
  describe('a statement', () => {
    let opened: PoolerPool;
    beforeAll(() => {
      opened = openPoolerPool(bouncer.settings, clone.settings, { pooler: 6, direct: 1 });
      stops.push(opened.close);
    });

    const settings = sql<{ zone: string; statement: string; lock: string }>`select
      current_setting('TimeZone') as zone, current_setting('statement_timeout') as statement,
      current_setting('lock_timeout') as lock`;
    const ours = { zone: 'UTC', statement: '1min', lock: '50s' };

    // RUN-11
    test('has our time zone and time limits, and leaves none behind', async () => {
      const { db, shared } = opened;
      const alone = await Promise.all(Array.from({ length: 12 }, () => settings.execute(db)));
      expect(alone.map(({ rows }) => rows)).toEqual(Array(12).fill([ours]));
      await db.transaction().execute(async (tx) => {
        expect((await settings.execute(tx)).rows).toEqual([ours]);
      });
      await db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (tx) => {
          expect((await settings.execute(tx)).rows).toEqual([ours]);
        });
      const { rows } = await shared.query("select current_setting('statement_timeout') as statement");
      expect(rows).toEqual([{ statement: '0' }]);
    });

    test('that fails changes nothing and does not affect later ones', async () => {
      const { db } = opened;
      const fail = () => sql`insert into settings (key, value) values ('x', ${'no json'})`.execute(db);
      for (const failed of await Promise.allSettled(Array.from({ length: 12 }, fail)))
        expect(failed).toMatchObject({ status: 'rejected', reason: { code: '22P02' } });
      const aborted = db.transaction().execute(async (tx) => {
        await sql`insert into settings (key, value) values ('kept', '1')`.execute(tx);
        throw new Error('changed my mind');
      });
      await expect(aborted).rejects.toThrow('changed my mind');
      expect(await db.selectFrom('settings').where('key', 'in', ['x', 'kept']).execute()).toEqual([]);
      // A constraint that is checked at the end of the transaction fails the statement.
      await sql`create table late (n integer unique deferrable initially deferred)`.execute(db);
      await expect(sql`insert into late values (1), (1)`.execute(db)).rejects.toMatchObject({
        code: '23505',
      });
      expect((await sql`select from late`.execute(db)).rows).toEqual([]);
    });
  });
});
