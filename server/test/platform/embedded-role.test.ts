import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import { createBackup } from '../../src/operate/backup/create.ts';
import { openDirectory } from '../../src/operate/backup/directory.ts';
import { openRepository } from '../../src/operate/backup/repository.ts';
import { restoreBackup } from '../../src/operate/backup/restore.ts';
import { findBackup } from '../../src/operate/backup/verify.ts';
import { databaseExaminations } from '../../src/operate/doctor/database.ts';
import { examineAll } from '../../src/operate/doctor/examine.ts';
import { chooseDatabaseUsers, DATABASE_UID } from '../../src/platform/database/database-user.ts';
import { type EmbeddedConnection, embeddedConnection } from '../../src/platform/database/embedded.ts';
import { findBinaries } from '../../src/platform/database/embedded-binaries.ts';
import { BOOTSTRAP_ROLE, runAs } from '../../src/platform/database/embedded-role.ts';
import { createJobQueue, migrate } from '../../src/platform/database/migrate.ts';
import { type DatabasePool, openPool } from '../../src/platform/database/pool.ts';
import { openDiskStorage } from '../../src/platform/storage/disk.ts';
import { rowsOf } from '../backup/kit.ts';
import { postmasterOf } from '../support/process.ts';
import { fillEmptyTables } from '../support/sample-rows.ts';
import * as clusters from './clusters.ts';

afterEach(clusters.stopDatabases);
afterAll(clusters.clear);

const dataDir = await clusters.freshDirectory();
const cluster = join(dataDir, 'postgres');
await mkdir(cluster, { recursive: true });
await chmod(dataDir, 0o755);
const binDir = await findBinaries(dataDir);
const users = await chooseDatabaseUsers(clusters.base, binDir, DATABASE_UID);

/** Makes a cluster as earlier versions did, in which `vitrine` is the bootstrap role, and fills its database. */
async function makeOld(fill: (pool: DatabasePool['pool']) => Promise<void>): Promise<void> {
  const user = users?.creator ?? null;
  if (user !== null) await chown(cluster, user.uid, user.gid);
  await chmod(cluster, 0o700);
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=und'];
  const created = ['-D', cluster, '--username=vitrine', '--auth=trust', ...locale];
  await promisify(execFile)(join(binDir, 'initdb'), created, runAs(user));
  const settings = ['-c', 'listen_addresses=', '-c', 'fsync=off'];
  const server = spawn(join(binDir, 'postgres'), ['-D', cluster, '-k', cluster, ...settings], {
    ...runAs(user),
    stdio: 'ignore',
  });
  clusters.children.push(server);
  const connection = { host: cluster, port: 5432, user: 'vitrine', password: '', database: 'postgres' };
  const create = () => clusters.ask(connection, 'create database vitrine');
  await expect.poll(() => create().then(() => 'done', String)).toMatch(/done|exists/);
  const { pool, close } = openPool({ ...connection, database: 'vitrine' }, 3);
  await fill(pool);
  await close();
  server.kill('SIGINT');
  await once(server, 'exit');
}

const roles = (connection: EmbeddedConnection) =>
  clusters.ask(
    connection,
    `select rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, oid = 10 as bootstrap
       from pg_roles where rolname !~ '^pg_' order by rolname`,
  );

const nothingMore = { rolcreaterole: false, rolreplication: false, rolbypassrls: false, bootstrap: false };
const expectedRoles = [
  { rolname: 'vitrine', rolsuper: false, rolcreatedb: true, ...nothingMore },
  expect.objectContaining({ rolname: BOOTSTRAP_ROLE, rolsuper: true, bootstrap: true }),
];

/** Objects that the library's role does not own, except those of PostgreSQL and of extensions. */
const foreignObjects = `
  select object.type, object.identity from (
    select refclassid as class, refobjid as oid from pg_depend union select classid, objid from pg_depend
    union select 'pg_class'::regclass, oid from pg_class union select 'pg_proc'::regclass, oid from pg_proc
    union select 'pg_type'::regclass, oid from pg_type union select 'pg_namespace'::regclass, oid from pg_namespace) o
  cross join pg_identify_object(o.class, o.oid, 0) object
  join lateral (
    select relowner as owner from pg_class c where o.class = 'pg_class'::regclass and c.oid = o.oid
    union all select proowner from pg_proc p where o.class = 'pg_proc'::regclass and p.oid = o.oid
    union all select typowner from pg_type t where o.class = 'pg_type'::regclass and t.oid = o.oid
    union all select nspowner from pg_namespace n where o.class = 'pg_namespace'::regclass and n.oid = o.oid
  ) owned on owned.owner = 10
  where coalesce(object.schema, object.name) !~ '^(pg_.*|information_schema)$'
    and not exists (select from pg_depend e where e.classid = o.class and e.objid = o.oid and e.deptype = 'e')
    and not exists (select from pg_type t join pg_depend e on e.objid = t.typelem and e.deptype = 'e'
      where o.class = 'pg_type'::regclass and t.oid = o.oid)`;

/** Returns what the doctor says of the role, with or without an external database. */
async function findRole(connection: EmbeddedConnection, databaseUrl: string | null) {
  const { db, close } = openPool(connection, 1);
  const config = { ...readConfig({ VITRINE_DATA: dataDir }, dataDir), databaseUrl };
  const storage = await openDiskStorage(join(dataDir, 'library'), 0);
  const chosen = databaseExaminations.filter(({ code }) => code === 'database_role');
  const [check] = await examineAll({ db, storage, config, searchPath: '' }, 'en', chosen);
  await close();
  return check;
}

const starting = `
  const { startEmbedded } = await import(${JSON.stringify(clusters.embeddedModule)});
  await startEmbedded({ dataDir: process.argv[1], log() {} });
`;

/** Makes statements of superusers that change a table wait, unless the server ignores event triggers. */
const slowly = `
  create function wait() returns event_trigger language plpgsql as $$ begin
    if (select rolsuper from pg_roles where rolname = session_user) then perform pg_sleep(60); end if; end $$;
  create event trigger slowly on ddl_command_start when tag in ('ALTER TABLE') execute function wait()`;

/** Starts the library in another process and kills it while the role is being replaced. */
async function killDuringConversion(): Promise<void> {
  const args = ['--input-type=module', '-e', starting, dataDir];
  const child = spawn(process.execPath, args, { cwd: clusters.serverDir, stdio: 'inherit' });
  clusters.children.push(child);
  const waiting = () =>
    clusters
      .ask(
        embeddedConnection(dataDir),
        `select wait_event from pg_stat_activity where wait_event = 'PgSleep'`,
      )
      .catch(() => []);
  await expect.poll(waiting).toHaveLength(1);
  const postmaster = await postmasterOf(dataDir);
  child.kill('SIGKILL');
  await once(child, 'exit');
  process.kill(postmaster, 'SIGKILL');
}

/** Backs a library up and restores it into another database of the same server. */
async function backUpAndRestore({ pool }: DatabasePool, connection: EmbeddedConnection) {
  const storage = await openDiskStorage(join(dataDir, 'library'), 0);
  const place = await clusters.freshDirectory('backup');
  const options = { version: '1', passphrase: null, secretKey: null, keep: null, now: new Date() };
  await createBackup(pool, storage, await openDirectory(place, true), { ...options, progress: () => {} });
  const repository = await openRepository(await openDirectory(place, false), null);
  await pool.query('create database restored');
  const restored = openPool({ ...connection, database: 'restored' }, 3);
  onTestFinished(() => restored.close());
  const target = await clusters.freshDirectory('restored');
  await restoreBackup(
    restored.pool,
    await openDiskStorage(join(target, 'library'), 0),
    repository,
    await findBackup(repository, null),
    {
      place: { dataDir: target, secretKey: null, databaseUrl: null, s3: null },
      skipped: new Set(),
      progress: () => {},
    },
  );
  return restored;
}

// RUN-43
test('the role of a new library is no superuser', async () => {
  const { connection } = await clusters.start(await clusters.freshDirectory());
  expect(await roles(connection)).toEqual(expectedRoles);
  for (const refused of [
    `set session authorization ${BOOTSTRAP_ROLE}`,
    `set role ${BOOTSTRAP_ROLE}`,
    'alter role vitrine superuser',
    `select pg_read_file('PG_VERSION')`,
    `copy (select 1) to program 'true'`,
    `alter system set fsync = 'off'`,
  ])
    await expect(clusters.ask(connection, refused)).rejects.toThrow('permission denied');
});

// RUN-43
test('an older library, in which the role is a superuser, keeps its rows and gets an ordinary role, even after kill -9', async () => {
  let before: Awaited<ReturnType<typeof rowsOf>> = {};
  await makeOld(async (pool) => {
    await migrate(pool);
    const client = await pool.connect();
    expect(await fillEmptyTables(client)).toEqual({});
    client.release();
    await pool.query(`create type mood as enum ('well'); create domain short as text; create view moods as select 1 as n;
      create materialized view kept as select 1 as n; create sequence counted;
      create type pair as (a integer, b mood); create table parts (n integer) partition by range (n);
      create table part partition of parts for values from (0) to (10);
      create procedure nothing() language sql as 'select 1'; create statistics facts on ref, role_id from users;
      create role ${BOOTSTRAP_ROLE}; ${slowly}`);
    before = await rowsOf(pool, 'all');
  });

  // Someone has taken the name: the library works, and says what remains to be done.
  const said: string[] = [];
  const quick = { settings: { event_triggers: 'off' } };
  const unchanged = await clusters.start(dataDir, quick, (line) => said.push(line));
  expect(said).toEqual([expect.stringContaining('the role vitrine of PostgreSQL remains a superuser: ')]);
  expect(said[0]).toContain(`role "${BOOTSTRAP_ROLE}" already exists`);
  expect((await clusters.ask(unchanged.connection, foreignObjects)).length).toBeGreaterThan(100);
  expect(await findRole(unchanged.connection, null)).toMatchObject({
    status: 'warning',
    remedy: expect.stringContaining('Restart Vitrine'),
  });
  expect(await findRole(unchanged.connection, 'postgres://external/vitrine')).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('vitrine is a superuser'),
    remedy: expect.stringContaining('DATABASE_URL'),
  });
  await clusters.ask(unchanged.connection, `drop role ${BOOTSTRAP_ROLE}`);
  await unchanged.stop();

  await killDuringConversion();
  const { connection } = await clusters.start(dataDir, quick);
  expect(await roles(connection)).toEqual(expectedRoles);
  expect(await clusters.ask(connection, foreignObjects)).toEqual([]);
  const database = openPool(connection, 3);
  onTestFinished(() => database.close());
  expect(await findRole(connection, null)).toMatchObject({ status: 'ok', detail: 'vitrine is no superuser' });
  const { pool } = database;
  expect(await rowsOf(pool, 'all')).toEqual(before);

  // The owner may change its tables, types and functions.
  await pool.query(`alter table parts add column more text; alter type mood add value 'better';
    drop procedure nothing(); drop view moods; drop materialized view kept; drop table parts; drop sequence counted;
    drop type pair; drop type mood; drop domain short; drop statistics facts`);
  await migrate(pool);
  await createJobQueue(pool);
  const restored = await backUpAndRestore(database, connection);
  expect(await rowsOf(restored.pool)).toEqual(await rowsOf(pool));
});
