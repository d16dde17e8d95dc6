import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { type BackupOptions, createBackup } from '../../src/operate/backup/create.ts';
import { openDirectory } from '../../src/operate/backup/directory.ts';
import { openRepository, type Repository } from '../../src/operate/backup/repository.ts';
import { restoreBackup } from '../../src/operate/backup/restore.ts';
import type { LostSecrets } from '../../src/operate/backup/restore-key.ts';
import type { BackupTarget } from '../../src/operate/backup/target.ts';
import { findBackup, verify } from '../../src/operate/backup/verify.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { saySentence } from '../../src/platform/language/sentence.ts';
import { openDiskStorage } from '../../src/platform/storage/disk.ts';
import { logoKey, subtitlesKey } from '../../src/platform/storage/object-key.ts';
import type { Storage } from '../../src/platform/storage/storage.ts';
import { type Account, type Library, publish, upload } from '../support/library.ts';
import { jpeg, plainFile, plainText, sha256 } from '../support/pictures.ts';
import { fillEmptyTables } from '../support/sample-rows.ts';

/** Creates a directory that is removed after the test. */
export async function scratchDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'vitrine-backup-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** The connection settings of the machine's database. */
export function settingsOfMachine({ name }: { name: string }): pg.ClientConfig {
  return { ...JSON.parse(inject('server')), database: name };
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client(settingsOfMachine({ name: 'postgres' }));
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** Opens a machine without a library until the test ends: an empty database and an empty disk. */
export async function newMachine() {
  const name = `vitrine_restored_${process.pid}_${randomBytes(4).toString('hex')}`;
  await administer(`create database ${name}`);
  const database = openPool(settingsOfMachine({ name }), 4);
  onTestFinished(async () => {
    await database.close();
    await administer(`drop database if exists ${name} with (force)`);
  });
  const dataDir = await scratchDirectory();
  const storage = await openDiskStorage(join(dataDir, 'library'), 0);
  return { pool: database.pool, database, storage, name, dataDir };
}

/** Backs a library up into a directory, or another place. */
export async function backUp(
  library: Pick<Library, 'database' | 'deps'>,
  place: string | BackupTarget,
  options: Partial<BackupOptions> = {},
) {
  const target = typeof place === 'string' ? await openDirectory(place, true) : place;
  return createBackup(library.database.pool, library.deps.storage, target, {
    version: '1.0.0',
    passphrase: null,
    secretKey: library.deps.secretKey,
    keep: null,
    now: new Date(),
    progress: () => {},
    ...options,
  });
}

export async function openBackups(
  place: string | BackupTarget,
  passphrase: string | null = null,
): Promise<Repository> {
  return openRepository(typeof place === 'string' ? await openDirectory(place, false) : place, passphrase);
}

/** Returns the damages of the latest backup. */
export async function damagesOf(repository: Repository): Promise<string[]> {
  const damages = await Array.fromAsync(verify(repository, await findBackup(repository, null)));
  return damages.map(({ reason }) => saySentence('en', reason));
}

export async function restoreLatest(
  repository: Repository,
  machine: { pool: pg.Pool; storage: Storage; dataDir: string },
  secretKey: string | null = null,
): Promise<LostSecrets | null> {
  const manifest = await findBackup(repository, null);
  return restoreBackup(machine.pool, machine.storage, repository, manifest, {
    place: { dataDir: machine.dataDir, secretKey, databaseUrl: null, s3: null },
    skipped: new Set(),
    progress: () => {},
  });
}

/** Tables and columns that are not restored by design (RUN-14, RUN-16). */
const left: Readonly<Record<string, string>> = {
  sessions: 'false',
  // They end with their session.
  push_subscriptions: 'false',
  job_workers: 'false',
  job_progress: 'false',
  rate_budgets: 'false',
  last_writes: 'false',
  link_streams: 'false',
  post_presence: 'false',
  uploads: 'used_at is not null',
  settings: "key not in ('buckets', 'last_backup')",
};

const momentary = [
  'job_workers',
  'job_progress',
  'rate_budgets',
  'last_writes',
  'link_streams',
  'post_presence',
];

export type Rows = Record<string, { count: number; hash: string | null }>;

/** Hashes every row of every table and every job; without `all`, omits what a restore leaves out. */
export async function rowsOf(
  client: pg.Pool | pg.ClientBase,
  extent: 'all' | 'restored' = 'restored',
): Promise<Rows> {
  const { rows: tables } = await client.query<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1",
  );
  const found: Rows = {};
  const read = async (name: string, query: string) => {
    const { rows } = await client.query<{ count: number; hash: string | null }>(
      `select count(*)::int as count, md5(string_agg(r::text, chr(10) order by r::text collate "C")) as hash from (${query}) r`,
    );
    found[name] = { count: rows[0]?.count ?? 0, hash: rows[0]?.hash ?? null };
  };
  for (const { name } of tables) {
    const isLeft = extent === 'restored' || momentary.includes(name);
    await read(name, `select * from ${name} where ${isLeft ? (left[name] ?? 'true') : 'true'}`);
  }
  await read(
    'jobs',
    `select t.identifier, q.queue_name, j.payload::text, j.priority, j.run_at, j.attempts, j.max_attempts, j.last_error,
       j.created_at, j.updated_at, j.key, j.flags, j.revision
     from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
     left join graphile_worker._private_job_queues q on q.id = j.job_queue_id
     where t.identifier not in ('mail-notification', 'mail-digest', 'mail-invitation', 'mail-links-of-name',
       'mail-account-link', 'mail-account-notice')`,
  );
  return found;
}

/** Hashes every stored file. */
export async function filesOf(storage: Storage): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const prefix of ['originals', 'renditions', 'subtitles', 'logos']) {
    for await (const { key, sizeBytes } of storage.list(prefix)) {
      const hash = createHash('sha256');
      for await (const chunk of await storage.get(key, sizeBytes)) hash.update(chunk);
      found[key] = hash.digest('hex');
    }
  }
  return found;
}

/** Characters that COPY, JSON or shells treat specially. */
const awkward = 'tab\t newline\n backslash \\N \\. quote \' " null-like \\N, snowman ☃, 𝔘𝔫𝔦, \u0001';

/** Stores the bytes of a sample row. */
async function storeSample(
  { database, deps: { storage } }: Library,
  keyOf: (hash: string) => string,
  table: string,
  column: string,
): Promise<void> {
  const bytes = Buffer.from(`the content of ${table}`);
  const hash = sha256(bytes);
  const path = join(storage.incomingDir, table);
  await writeFile(path, bytes);
  await storage.adopt(path, keyOf(hash));
  await database.pool.query(`update ${table} set ${column} = $1, size_bytes = $2`, [hash, bytes.length]);
}

/** Fills a library with rows of most kinds. Runs its jobs, and leaves some pending. */
export async function fill(library: Library): Promise<{ root: Account; mara: Account }> {
  const root = await library.join('root', 'admin');
  const [mara, ines] = await library.joinAll('mara', 'ines');
  const picture = await upload(mara, await jpeg(900, 600), { title: awkward });
  const text = await upload(mara, plainText(`${awkward}\n`.repeat(50)), {}, 'note.txt');
  const other = await upload(ines, await jpeg(300, 400, { seed: 7 }), {}, 'other.jpg');
  await library.runJobs();
  const post = await publish(mara, [picture, text], {
    title: 'Summer\\',
    description: `${awkward} ${'x'.repeat(9000)}`,
    tags: ['sea', 'Ünïcode'],
  });
  const params = { id: post.id };
  const comment = await ines.ok('createComment', { params, body: { body: awkward } });
  await mara.ok('likeComment', { params: { id: comment.id } });
  await ines.ok('likePost', { params });
  await ines.ok('followUser', { params: { ref: mara.ref } });
  await mara.ok('createCollection', { body: { name: 'Shelf', visibility: 'public' } });
  await mara.ok('createToken', { body: { name: 'script', scopes: ['read'] } });
  await ines.ok('deleteAsset', { params: { id: other.id }, body: {} });
  await library.runJobs();
  const { db } = library.deps;
  await sql`update users set bio = ${awkward} where ref = ${mara.ref}`.execute(db);
  // Rows of the kinds that the requests above did not create.
  const client = await library.database.pool.connect();
  const empty = await fillEmptyTables(client);
  client.release();
  if (Object.keys(empty).length > 0) throw new Error(`no rows in ${JSON.stringify(empty)}`);
  await storeSample(library, subtitlesKey, 'subtitles', 'file_hash');
  await storeSample(library, logoKey, 'logos', 'hash');
  // A value that is larger than any buffer.
  await sql`update files set exif = jsonb_build_object('huge', repeat(md5(random()::text), 60000))
    where hash = (select file_hash from assets where id = ${picture.id})`.execute(db);
  // A pending job.
  await upload(mara, await jpeg(80, 60, { seed: 3 }), {}, 'pending.jpg');
  return { root, mara };
}

/** Writes posts until stopped; each is one transaction with its members. Returns how many it wrote. */
export function writeUntilStopped(account: Account): { stop(): Promise<number> } {
  let stopped = false;
  const run = async () => {
    let written = 0;
    for (; !stopped; written += 1) {
      const asset = await upload(account, plainFile(`written ${written} ${account.username}`), {}, 'w.bin');
      await publish(account, [asset], { title: `Written ${written}` });
    }
    return written;
  };
  const running = run();
  return {
    stop() {
      stopped = true;
      return running;
    },
  };
}
