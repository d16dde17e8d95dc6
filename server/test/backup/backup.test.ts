import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type pg from 'pg';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { releaseBytes } from '../../src/content/trash/jobs/purge.ts';
import { openBucketTarget } from '../../src/operate/backup/bucket.ts';
import { backupCommand, restoreCommand } from '../../src/operate/backup/command.ts';
import { listBackups } from '../../src/operate/backup/manifest.ts';
import { findBackup } from '../../src/operate/backup/verify.ts';
import { sweep } from '../../src/operate/storage/sweep/stored-files.ts';
import { beginRestoring, createJobQueue, migrate } from '../../src/platform/database/migrate.ts';
import { openDiskStorage } from '../../src/platform/storage/disk.ts';
import { originalKey, renditionsPrefix } from '../../src/platform/storage/object-key.ts';
import { isOutOfRoom } from '../../src/platform/storage/room.ts';
import { openBucket } from '../../src/platform/storage/s3-bucket.ts';
import { StorageUnavailable } from '../../src/platform/storage/storage.ts';
import {
  namedService,
  openBucket as openTestBucket,
  startService,
  type TestBucket,
} from '../support/bucket.ts';
import { urlOf } from '../support/clone.ts';
import { objectPath, openLibrary, upload } from '../support/library.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { bin } from '../support/process.ts';
import {
  backUp,
  damagesOf,
  filesOf,
  fill,
  newMachine,
  openBackups,
  type Rows,
  restoreLatest,
  rowsOf,
  scratchDirectory,
  settingsOfMachine,
  writeUntilStopped,
} from './kit.ts';

const library = await openLibrary();
const { mara } = await fill(library);

/** All files below a directory, as paths relative to it. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((e) => e.isFile()).map((e) => join(e.parentPath, e.name).slice(directory.length + 1));
}

const keyOf = ({ file_hash }: { file_hash: string | null }) => originalKey(file_hash ?? '');

async function flipBit(path: string): Promise<void> {
  const bytes = await readFile(path);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(path, bytes);
}

/** Writes a file until the disk is full. */
async function fillDisk(path: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (;;) await file.write(Buffer.alloc(64 * 1024));
  } catch (error) {
    if (!isOutOfRoom(error)) throw error;
  } finally {
    await file.close();
  }
}

/** Returns a pool that calls `observe` with a connection in the snapshot of the backup. */
function observeSnapshot(pool: pg.Pool, observe: (client: pg.PoolClient) => Promise<void>): pg.Pool {
  const connect = async () => {
    const client = await pool.connect();
    const query = client.query.bind(client);
    const watching = async (text: unknown, values: unknown) => {
      const result = await Reflect.apply(query, client, [text, values]);
      if (typeof text !== 'string' || !text.startsWith('set local client_encoding')) return result;
      const { rows } = await client.query<{ id: string }>('select pg_export_snapshot() as id');
      const other = await pool.connect();
      await other.query('begin isolation level repeatable read');
      await other.query(`set transaction snapshot '${rows[0]?.id}'`);
      await observe(other);
      await other.query('rollback');
      other.release();
      return result;
    };
    return new Proxy(client, {
      get: (its, name) => {
        if (name === 'query') {
          return (text: unknown, values: unknown) =>
            typeof text === 'string' ? watching(text, values) : Reflect.apply(query, its, [text, values]);
        }
        const value: unknown = Reflect.get(its, name);
        return typeof value === 'function' ? value.bind(its) : value;
      },
    });
  };
  return new Proxy(pool, { get: (its, name) => (name === 'connect' ? connect : Reflect.get(its, name)) });
}

describe('a backup', () => {
  // RUN-13, RUN-17
  test('is read with its passphrase only, reveals nothing without it, and names what is damaged', async () => {
    const directory = await scratchDirectory();
    const passphrase = 'grey heron over the weir';
    await expect(backUp(library, directory, { passphrase: 'short' })).rejects.toThrow(/12 characters/);
    const { manifest } = await backUp(library, directory, { passphrase });
    expect(manifest.lost.first).toEqual([]);
    await expect(openBackups(directory)).rejects.toThrow(/are encrypted; set VITRINE_BACKUP_PASSPHRASE/);
    await expect(openBackups(directory, 'grey heron over the wear')).rejects.toThrow('wrong passphrase');
    await expect(backUp(library, directory)).rejects.toThrow(/are encrypted/);
    const repository = await openBackups(directory, passphrase);
    expect(await damagesOf(repository)).toEqual([]);

    // Nothing is revealed without the passphrase.
    const paths = await filesBelow(directory);
    const hashes = await library.deps.db.selectFrom('files').select('hash').limit(5).execute();
    const secrets = ['Summer', 'assets', ...hashes.map(({ hash }) => hash)];
    for (const path of paths) {
      const text = `${path}\n${await readFile(join(directory, path), 'latin1')}`;
      expect([path, secrets.filter((secret) => text.includes(secret))]).toEqual([path, []]);
    }

    // Exchanges two contents of the same size.
    const [one = '', other = ''] = paths.filter((path) => path.startsWith('files/'));
    await writeFile(join(directory, one), await readFile(join(directory, other)));
    expect(await damagesOf(repository)).not.toEqual([]);
  });

  // RUN-13
  test('copies only new files, and keeps the number of backups that is asked for', async () => {
    const directory = await scratchDirectory();
    const first = await backUp(library, directory);
    expect(first.added.files).toBe(first.manifest.files.count);
    const asset = await upload(mara, plainFile('to be purged'), {}, 'purged.bin');
    const hash = asset.file_hash ?? '';
    const second = await backUp(library, directory);
    expect(second.added.files).toBe(1);
    await library.deps.db.deleteFrom('assets').where('id', '=', asset.id).execute();
    await releaseBytes(library.deps, hash);
    const third = await backUp(library, directory, { keep: 1 });
    expect(third).toMatchObject({ added: { files: 0 }, removed: [first.manifest.id, second.manifest.id] });
    const repository = await openBackups(directory);
    expect(await listBackups(repository)).toEqual({ complete: [third.manifest.id], incomplete: [] });
    expect(await damagesOf(repository)).toEqual([]);
    // Only the second backup contained the purged file.
    const names = new Set((await filesBelow(join(directory, 'files'))).map((path) => path.slice(3)));
    expect(names.has(hash)).toBe(false);
    expect(names.size).toBeGreaterThan(3);
  });

  // RUN-13
  test('on a full disk fails with one line and leaves earlier backups whole', async (context) => {
    const directory = await scratchDirectory();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', directory]);
    context.skip(mounted.status !== 0, 'only root can mount a small disk');
    try {
      const { manifest } = await backUp(library, directory);
      await fillDisk(join(directory, 'ballast'));
      await expect(backUp(library, directory)).rejects.toThrow(
        `the disk of ${directory} is full; earlier backups are complete, this one is not`,
      );
      const repository = await openBackups(directory);
      expect((await findBackup(repository, null)).id).toBe(manifest.id);
      expect(await damagesOf(repository)).toEqual([]);
    } finally {
      spawnSync('umount', ['-l', directory]);
    }
  });
});

// RUN-15
test('a restore is refused for a library with anything in it, and for a backup that is damaged or of a newer version', async () => {
  const directory = await scratchDirectory();
  await backUp(library, directory);
  const repository = await openBackups(directory);
  const before = await rowsOf(library.database.pool);
  const { dataDir } = library.config;
  const own = { pool: library.database.pool, storage: library.deps.storage, dataDir };
  await expect(restoreLatest(repository, own)).rejects.toThrow(/this library is not empty/);
  expect(await rowsOf(library.database.pool)).toEqual(before);
  const machine = await newMachine();
  await expect(restoreLatest(repository, { ...machine, storage: own.storage })).rejects.toThrow(
    /there are files in the library already/,
  );

  const config = {
    ...library.config,
    databaseUrl: urlOf(settingsOfMachine(machine)),
    dataDir: await scratchDirectory(),
  };
  const paths = (await filesBelow(directory)).filter(
    (path) => !/^(instance\.lock|vitrine-backup)/.test(path),
  );
  expect(paths.length).toBeGreaterThan(50);
  const chosen = paths.filter((path, at) => at % 40 === 0 || /manifest|\/files$|\/jobs$/.test(path));
  for (const [at, path] of chosen.entries()) {
    const full = join(directory, path);
    const content = await readFile(full);
    if (at % 3 === 0) await flipBit(full);
    else if (at % 3 === 1) await truncate(full, content.length - 1);
    else await rm(full);
    const lines: string[] = [];
    const code = await restoreCommand(config, [directory], (line) => lines.push(line)).catch((error) => {
      lines.push(String(error));
      return 1;
    });
    expect({ path, code, said: lines.join('\n') }).toEqual({
      path,
      code: 1,
      said: expect.stringMatching(/damaged|missing|no complete backup/),
    });
    await writeFile(full, content);
  }

  const { db } = library.deps;
  await sql`insert into migrations (name) values ('9999_of_tomorrow.sql')`.execute(db);
  try {
    await backUp(library, directory);
  } finally {
    await sql`delete from migrations where name = '9999_of_tomorrow.sql'`.execute(db);
  }
  await expect(restoreLatest(repository, machine)).rejects.toThrow(/made by a newer Vitrine/);
  const { rowCount } = await machine.pool.query("select from pg_tables where schemaname = 'public'");
  expect(rowCount).toBe(0);
});

/** Runs the command as an operator does, on a library of this test. */
function run(args: string[], env: Record<string, string>): ChildProcess {
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env;
  const options = { env: { PATH, HOME, TMPDIR, ...env }, cwd: '/', stdio: 'ignore' } as const;
  return spawn(process.execPath, [bin, ...args], options);
}

/** Kills a process that has not ended. */
async function kill(child: ChildProcess): Promise<void> {
  expect(child.exitCode).toBeNull();
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Returns the number of sessions of this database that wait for a lock on a table. */
async function countWaiting(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query(`select from pg_locks where not granted and locktype = 'relation'
    and database = (select oid from pg_database where datname = current_database())`);
  return rowCount ?? 0;
}

describe('a kill', () => {
  // RUN-15
  test('in the middle of a backup leaves no backup, and the next one cleans up', async () => {
    const directory = await scratchDirectory();
    const env = { VITRINE_DATA: library.config.dataDir, DATABASE_URL: library.databaseUrl };
    // Kills it while it waits for the rows of a locked table.
    const holder = await library.database.pool.connect();
    await holder.query('begin; lock table whiteboards in access exclusive mode');
    const child = run(['backup', directory], env);
    await expect.poll(() => countWaiting(library.database.pool)).toBeGreaterThan(0);
    expect((await filesBelow(directory)).some((path) => path.endsWith('tables/assets'))).toBe(true);
    await kill(child);
    await holder.query('rollback');
    holder.release();
    const repository = await openBackups(directory);
    const found = await listBackups(repository);
    expect(found.complete).toEqual([]);
    expect(found.incomplete.length).toBeGreaterThan(0);
    await expect(findBackup(repository, null)).rejects.toThrow(/there is no complete backup/);
    await mkdir(join(directory, 'files/00'), { recursive: true });
    await writeFile(join(directory, `files/00/${'0'.repeat(64)}`), 'of a backup that was never finished');
    const { manifest } = await backUp(library, directory);
    expect(await listBackups(repository)).toEqual({ complete: [manifest.id], incomplete: [] });
    expect(await damagesOf(repository)).toEqual([]);
    expect(await filesBelow(directory)).not.toContain(`files/00/${'0'.repeat(64)}`);
    expect(await readdir(join(directory, 'incoming'))).toEqual([]);
  });

  // RUN-15
  test('in the middle of a restore is noticed at the start, and the restore can begin again', async () => {
    const directory = await scratchDirectory();
    await backUp(library, directory);
    const machine = await newMachine();
    const dataDir = await scratchDirectory();
    const env = { VITRINE_DATA: dataDir, DATABASE_URL: urlOf(settingsOfMachine(machine)) };
    // Kills it in the transaction that loads the rows, after another one that was killed before.
    const holder = await machine.pool.connect();
    await beginRestoring(holder);
    await createJobQueue(machine.pool);
    await holder.query('begin; lock table graphile_worker._private_tasks in access exclusive mode');
    const child = run(['restore', directory], env);
    await expect.poll(() => countWaiting(machine.pool)).toBeGreaterThan(0);
    await kill(child);
    await holder.query('rollback');
    holder.release();
    await expect(migrate(machine.pool)).rejects.toThrow(
      'this library is only partly restored; run vitrine restore again',
    );
    const partly = { ...library, database: machine.database };
    await expect(backUp(partly, await scratchDirectory())).rejects.toThrow(/only partly restored/);

    const { secretKey } = library.deps;
    const config = { ...library.config, databaseUrl: env.DATABASE_URL, dataDir, secretKey };
    expect(await restoreCommand(config, [directory], () => {})).toBe(0);
    expect(await rowsOf(machine.pool)).toEqual(await rowsOf(library.database.pool));
    const stored = Object.keys(await filesOf(library.deps.storage));
    for (const key of stored) await (await open(join(dataDir, 'library', key))).close();
    await migrate(machine.pool);
  });
});

const service = namedService ?? (await startService());

// RUN-27
describe('a backup in a bucket', () => {
  let bucket: TestBucket;

  beforeEach(async () => {
    bucket = await openTestBucket(service);
    return bucket.close;
  });
  afterAll(service.stop);

  const targetIn = ({ settings }: TestBucket, leaseMs?: number) =>
    openBucketTarget(
      openBucket({ ...settings, prefix: 'studio/' }),
      's3://test/studio',
      leaseMs === undefined ? {} : { leaseMs },
    );

  // RUN-14, RUN-16
  test('is made by the commands, encrypted, with only new files, and restores every row and file but neither sessions nor mails that were due', async () => {
    await sql`select graphile_worker.add_job('mail-notification', '{"id": "x"}')`.execute(library.deps.db);
    // Without the proxy, which takes a third of the time: nothing fails here.
    const { endpoint, accessKeyId, secretAccessKey } = service;
    const config = {
      ...library.config,
      databaseUrl: library.databaseUrl,
      backupPassphrase: 'grey heron over the weir',
      backupS3: { endpoint, accessKeyId, secretAccessKey, region: 'us-east-1', forcePathStyle: true },
    };
    const place = `s3://${bucket.settings.bucket}/studio`;
    const printed: string[] = [];
    const print = (line: string) => printed.push(line);
    expect(await backupCommand(config, [place], print)).toBe(0);
    expect(await backupCommand(config, [place, '--keep', '1'], print)).toBe(0);
    expect(printed[1]).toMatch(/; new: 0 files of 0 bytes$/);
    expect(printed[2]).toMatch(/^removed: /);
    expect(await backupCommand(config, ['verify', place], print)).toBe(0);
    const keys = await Array.fromAsync(targetIn(bucket).list(''));
    expect(keys.filter((key) => !/^(vitrine-backup\.json|files\/|backups\/)/.test(key))).toEqual([]);
    expect(keys.filter((key) => /users|assets/.test(key))).toEqual([]);
    const backups = keys.filter((key) => key.startsWith('backups/')).map((key) => key.split('/')[1]);
    expect(new Set(backups).size).toBe(1);

    const machine = await newMachine();
    const dataDir = await scratchDirectory();
    const empty = { ...config, databaseUrl: urlOf(settingsOfMachine(machine)), dataDir };
    expect(await restoreCommand(empty, [place], print)).toBe(0);
    expect(await rowsOf(machine.pool)).toEqual(await rowsOf(library.database.pool));
    const restored = await openDiskStorage(join(dataDir, 'library'), 0);
    expect(await filesOf(restored)).toEqual(await filesOf(library.deps.storage));
    const mails = `select from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
      where t.identifier like 'mail-%'`;
    for (const query of [mails, 'select from sessions']) {
      expect((await library.database.pool.query(query)).rowCount).toBeGreaterThan(0);
      expect((await machine.pool.query(query)).rowCount).toBe(0);
    }
    // The restored library works: ids continue, and triggers and constraints exist again.
    const { rows } = await machine.pool.query<{ ref: number }>(
      `insert into users (username, role_id) select 'nova', id from roles limit 1 returning ref`,
    );
    expect(rows[0]?.ref).toBeGreaterThan(mara.ref);
    await expect(machine.pool.query('delete from audit_events')).rejects.toThrow(/never/);

    await expect(backupCommand({ ...config, backupS3: null }, [place], print)).rejects.toThrow(
      'needs VITRINE_BACKUP_S3_ACCESS_KEY_ID',
    );
    await expect(backupCommand(config, ['s3://No/Bucket'], print)).rejects.toThrow(
      'is not an address in a bucket',
    );
  });

  test('that loses the bucket fails and leaves earlier backups whole', async () => {
    const target = targetIn(bucket);
    const first = await backUp(library, target);
    await upload(mara, plainFile('only in the second backup'), {}, 'second.bin');
    const failing = backUp(library, target, { progress: () => bucket.setFault('gone') });
    await expect(failing).rejects.toThrow(StorageUnavailable);
    bucket.setFault('none');
    const repository = await openBackups(target);
    const found = await listBackups(repository);
    expect(found).toEqual({ complete: [first.manifest.id], incomplete: [expect.any(String)] });
    expect(await damagesOf(repository)).toEqual([]);
    // The name of the failed writer still exists, and counts for a while.
    await expect(backUp(library, target)).rejects.toThrow(/another backup is writing/);
    const impatient = targetIn(bucket, 1000);
    await expect.poll(() => backUp(library, impatient).then(() => 'done', String)).toBe('done');
    expect((await listBackups(repository)).incomplete).toEqual([]);
    expect(await damagesOf(repository)).toEqual([]);
  });

  test('refuses a second writer', async () => {
    const lock = await targetIn(bucket).lock();
    await expect(backUp(library, targetIn(bucket))).rejects.toThrow(
      'another backup is writing to s3://test/studio, or was killed in the last 5 minutes',
    );
    await lock.release();
    await (await targetIn(bucket).lock()).release();
  });

  test('stores large content in parts, and nothing of content that fails', async () => {
    const target = targetIn(bucket);
    const chunk = Buffer.alloc(1024 * 1024, 'a piece of a large table ');
    const content = async function* (chunks: number, failure?: Error) {
      for (let n = 0; n < chunks; n += 1) yield chunk;
      if (failure !== undefined) throw failure;
    };
    await target.write('files/large', content(9));
    expect(await target.size('files/large')).toBe(9 * chunk.length);
    const read = Buffer.concat(await Array.fromAsync(await target.read('files/large')));
    expect(read.equals(Buffer.concat(Array.from({ length: 9 }, () => chunk)))).toBe(true);
    expect(bucket.requests.filter((asked) => /^PUT .*partNumber=/.test(asked))).toHaveLength(2);
    for (const chunks of [3, 9]) {
      const failing = target.write('files/failed', content(chunks, new Error('it was damaged')));
      await expect(failing).rejects.toThrow('it was damaged');
      expect(await target.size('files/failed')).toBeNull();
    }
    await expect(target.read('files/failed')).rejects.toThrow('s3://test/studio/files/failed is missing');
  });
});

// The last test, because the others would copy all that it writes.
// RUN-13
test('a backup of a library in use is one snapshot, with files that are purged meanwhile, and names lost files', async () => {
  const directory = await scratchDirectory();
  const kept = await upload(mara, plainFile('in an earlier backup'), {}, 'kept.bin');
  await backUp(library, directory);
  const purged = await upload(mara, await jpeg(120, 90, { seed: 11 }), {}, 'purged.jpg');
  await library.runJobs();
  const gone = await upload(mara, plainFile('nowhere'), {}, 'gone.bin');
  const changed = await upload(mara, plainFile('changed'), {}, 'changed.bin');
  const purgedHash = purged.file_hash ?? '';
  const [goneKey, changedKey] = [keyOf(gone), keyOf(changed)];
  await rm(objectPath(library, keyOf(kept)));
  await rm(objectPath(library, goneKey));
  await writeFile(objectPath(library, changedKey), 'CHANGED');

  let isPurged = false;
  const writing = writeUntilStopped(mara);
  const storage: typeof library.deps.storage = {
    ...library.deps.storage,
    // The snapshot exists when the first file is read.
    async head(key) {
      if (!isPurged) {
        isPurged = true;
        // The sweep without a grace time also removes files that are being received.
        expect(await writing.stop()).toBeGreaterThan(0);
        await library.deps.db.deleteFrom('assets').where('id', '=', purged.id).execute();
        await releaseBytes(library.deps, purgedHash);
        await sweep(library.deps, Date.now() + 1000, 0);
      }
      return library.deps.storage.head(key);
    },
  };
  let seen: Rows = {};
  const pool = observeSnapshot(library.database.pool, async (client) => {
    seen = await rowsOf(client);
  });
  const busy = { deps: { ...library.deps, storage }, database: { ...library.database, pool } };
  const { manifest } = await backUp(busy, directory);
  expect(isPurged).toBe(true);
  expect(Object.fromEntries(manifest.lost.first.map(({ key, reason }) => [key, reason]))).toEqual({
    [goneKey]: 'it is missing',
    [changedKey]: expect.stringMatching(/changed|bytes/),
  });

  const machine = await newMachine();
  await restoreLatest(await openBackups(directory), machine, library.deps.secretKey);
  expect(await rowsOf(machine.pool)).toEqual(seen);
  expect(await rowsOf(library.database.pool)).not.toEqual(seen);
  const stored = new Set(Object.keys(await filesOf(machine.storage)));
  const { rows } = await machine.pool.query<{ hash: string }>('select hash from files');
  const missing = rows.map(({ hash }) => originalKey(hash)).filter((key) => !stored.has(key));
  expect(missing.sort()).toEqual([changedKey, goneKey].sort());
  // Afterwards the sweep removes the files that the purge had to leave.
  expect(await library.deps.storage.head(originalKey(purgedHash))).not.toBeNull();
  await sweep(library.deps, Date.now() + 1000, 0);
  expect(await library.deps.storage.head(originalKey(purgedHash))).toBeNull();
  expect(await Array.fromAsync(library.deps.storage.list(renditionsPrefix(purgedHash)))).toEqual([]);
  await library.deps.db.deleteFrom('assets').where('id', 'in', [kept.id, gone.id, changed.id]).execute();
  for (const { file_hash } of [kept, gone, changed]) await releaseBytes(library.deps, file_hash ?? '');
});
