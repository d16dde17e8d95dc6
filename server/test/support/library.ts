import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShownAsset } from '@vitrine/contract/assets';
import type { Post, PostCreate } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { jobHandlers } from '../../src/boot/jobs.ts';
import { openService, type ServiceOptions } from '../../src/boot/service.ts';
import { type Config, readConfig } from '../../src/core/config.ts';
import type { Deps } from '../../src/core/deps.ts';
import { openDecoders } from '../../src/media/decoding/decoders.ts';
import { forbiddenTurns } from '../../src/media/decoding/turns.ts';
import { openMetadataReader } from '../../src/media/metadata/reader.ts';
import { createAccount } from '../../src/people/identity/accounts.ts';
import { openHashing } from '../../src/people/identity/hashing.ts';
import { startSession } from '../../src/people/identity/sessions.ts';
import type { DatabasePool } from '../../src/platform/database/pool.ts';
import { usualTimeouts } from '../../src/platform/http/slow-requests.ts';
import { runDueJobs } from '../../src/platform/jobs/worker.ts';
import { openStorage } from '../../src/platform/storage/open.ts';
import { type Visitor, visit } from './client.ts';
import { cloneTemplate } from './clone.ts';
import { openInfrastructure } from './cluster.ts';

export const password = 'correct horse battery';

export interface Account extends Visitor {
  ref: number;
  username: string;
}

/** A complete library for one test file: the real server over HTTP, a clone of the template database, and a disk. */
export interface Library {
  address: string;
  deps: Deps;
  database: DatabasePool;
  /** Its database in the form of `DATABASE_URL`. */
  databaseUrl: string;
  config: Config;
  anonymous(): Visitor;
  /** Creates an account with a session. */
  join(username: string, role?: 'admin' | 'member' | 'viewer'): Promise<Account>;
  /** Creates members with these names in turn. */
  joinAll<const Names extends readonly string[]>(
    ...usernames: Names
  ): Promise<{ [K in keyof Names]: Account }>;
  setPublicMode(enabled: boolean): Promise<void>;
  /** Runs every due job, as a worker does. */
  runJobs(): Promise<void>;
  close(): Promise<void>;
}

/** Real hashing at a hundredth of the usual cost, for tests that are not about hashing. */
const cheapHashing = openHashing(4);

/** The decoders and the metadata reader of all libraries of this worker; their processes end with it. */
let shared: Pick<Deps, 'decoders' | 'metadata'> | undefined;

export function sharedMedia(): Pick<Deps, 'decoders' | 'metadata'> {
  if (shared === undefined) {
    const decoders = openDecoders();
    shared = { decoders, metadata: openMetadataReader({ decoders }) };
  }
  return shared;
}

/** Returns the local path of a stored object. */
export function objectPath({ config }: Pick<Library, 'config'>, key: string): string {
  return join(config.dataDir, 'library', key);
}

/** The libraries of this test file, closed after its tests (close.ts). */
const opened: Library[] = [];

export async function closeLibraries(): Promise<void> {
  for (const library of opened.splice(0)) await library.close();
}

/** The usual size of a library's pool: small, because every connection reads the catalogs and plans statements itself. */
export const CONNECTIONS = 4;

interface LibraryOptions extends Pick<ServiceOptions, 'hashing' | 'decoding' | 'timeouts' | 'webDir'> {
  /** The size of its pool. */
  connections?: number;
}

/**
 * Waits until the service listens to notifications. It reads its previews' sizes then, which would otherwise count among
 * the statements of a test.
 */
async function untilListening({ db, listener }: Pick<DatabasePool, 'db' | 'listener'>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = listener.subscribe('tests', () => resolve());
  await promise;
  end();
  await sql`select`.execute(db);
}

/** Opens a library that closes after the file's tests. `env` are settings over the tests' own. */
export async function openLibrary(
  env: Record<string, string> = {},
  {
    hashing = cheapHashing,
    decoding,
    timeouts = usualTimeouts,
    webDir,
    connections = CONNECTIONS,
  }: LibraryOptions = {},
): Promise<Library> {
  const { settings, url, drop } = await cloneTemplate();
  const dataDir = await mkdtemp(join(tmpdir(), 'vitrine-library-'));
  // Decoders of root have to enter it.
  await chmod(dataDir, 0o711);
  const own = {
    VITRINE_DATA: dataDir,
    VITRINE_LOG_LEVEL: 'silent',
    VITRINE_RATE_LIMITS: 'off',
    VITRINE_PORT: '0',
    // Tests must also run on a small disk.
    VITRINE_RESERVE_BYTES: '0',
  };
  const infrastructure = await openInfrastructure(settings);
  const config = readConfig({ ...own, ...infrastructure.env, ...env }, dataDir);
  const { ffmpeg, libreoffice, ghostscript } = config;
  const isUsual = decoding === undefined && ffmpeg === null && libreoffice === null && ghostscript === null;
  const openOne = async () => {
    const database = infrastructure.openDatabase(connections);
    const replica = infrastructure.openReplica(connections);
    const storage = await openStorage(join(config.dataDir, 'library'), config.reserveBytes, config.s3);
    const service = await openService({
      db: database.db,
      listener: database.listener,
      storage,
      config,
      activity: database.activity,
      replica,
      hashing,
      ...(isUsual ? { media: sharedMedia() } : {}),
      ...(decoding === undefined ? {} : { decoding }),
      timeouts,
      ...(webDir === undefined ? {} : { webDir }),
    });
    const at = await service.server.listen({ host: '127.0.0.1', port: 0 });
    await untilListening(database);
    return { ...service, database, replica, at };
  };
  const first = await openOne();
  const { server, deps, metrics, database } = first;
  const services = [first];
  for (let other = 0; other < infrastructure.others; other += 1) services.push(await openOne());
  const address = await infrastructure.publish(services.map(({ at }) => at));
  const openAccount: Library['join'] = async (username, role = 'member') => {
    const ref = await createAccount(database.db, deps.passwords, { username, password, role });
    if (ref === null) throw new Error(`${username} is taken`);
    const session = { userRef: ref, days: config.sessionDays, address: '127.0.0.1', userAgent: 'test' };
    const token = (await startSession(database.db, session)).token;
    return { ...visit(address, {}, token), ref, username };
  };
  const library: Library = {
    address,
    deps,
    database,
    databaseUrl: url,
    config,
    anonymous: () => visit(address),
    join: openAccount,
    async joinAll<const Names extends readonly string[]>(...usernames: Names) {
      const accounts: Account[] = [];
      for (const username of usernames) accounts.push(await openAccount(username));
      // One account for each name, which TypeScript does not infer.
      return accounts as { [K in keyof Names]: Account };
    },
    async setPublicMode(enabled) {
      await sql`insert into settings (key, value) values ('public_mode', ${JSON.stringify(enabled)})
        on conflict (key) do update set value = excluded.value`.execute(database.db);
    },
    runJobs: () =>
      runDueJobs({
        pool: database.pool,
        handlers: jobHandlers(deps),
        concurrency: 2,
        forbidFlags: forbiddenTurns,
        observe: metrics?.observeJob ?? null,
        log: server.log,
      }),
    async close() {
      for (const { server, deps, database, replica } of services.toReversed()) {
        await server.close();
        if (!isUsual) await Promise.all([deps.decoders.close(), deps.metadata.close()]);
        await replica?.close();
        await database.close();
      }
      await infrastructure.stop();
      await drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  opened.push(library);
  return library;
}

/** Returns the form of an upload of these bytes. */
export function formOf(
  bytes: Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
  name = 'picture.jpg',
): FormData {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields)) form.append(key, value);
  form.append('file', new Blob([bytes]), name);
  return form;
}

/** Uploads bytes as a new asset of this account, by default public, because few tests are about audiences. */
export async function upload(
  account: Visitor,
  bytes: Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
  name?: string,
): Promise<ShownAsset> {
  return account.ok('createAsset', { body: formOf(bytes, { sensitivity: 'public', ...fields }, name) });
}

/** Publishes assets as a post of this account. */
export async function publish(
  account: Visitor,
  assets: readonly { id: string }[],
  body: Omit<PostCreate, 'members'> = {},
): Promise<Post> {
  return account.ok('createPost', { body: { ...body, members: assets.map(({ id }) => ({ asset_id: id })) } });
}
