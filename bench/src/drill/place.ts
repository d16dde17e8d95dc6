import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedDatabase, embeddedConnection, startEmbedded } from '@vitrine/server/embedded';
import pg from 'pg';
import { openRelay, type Relay } from '../../../server/test/support/relay.ts';
import { postmasterOf } from '../postmaster.ts';
import { type DrillBucket, startBucket } from './bucket.ts';
import { runVitrine, startVitrine, type VitrineProcess } from './service.ts';
import { mountSmallDisk } from './small-disk.ts';

export const admin = { username: 'drill', password: 'a password for drills alone' };

/** The environment in which a fault is tried. */
export interface PlaceOptions {
  /** `external`: a PostgreSQL that Vitrine reaches by DATABASE_URL and does not run itself. */
  database: 'embedded' | 'external';
  /** Size in MB of a separate file system for the data directory. By default it is on the disk of temporary files. */
  diskMegabytes?: number;
  /** Starts a separate worker process for jobs beside the server. */
  worker?: boolean;
  /** Stores files in a bucket instead of the data directory. */
  bucket?: boolean;
  /** Puts a relay between the service and an external PostgreSQL, or between clients and the service. */
  relay?: 'database' | 'clients';
}

/** A library of its own with the processes that serve it. */
export interface Place {
  dataDir: string;
  /** The directory of the journal, on another disk than the library. */
  journal: string;
  /** The address that clients use. */
  address(): string;
  service(): VitrineProcess;
  worker(): VitrineProcess;
  /** Starts the service again after it has ended. */
  restartService(): Promise<void>;
  restartWorker(): Promise<void>;
  /** Returns the process id of the postmaster. */
  postmaster(): Promise<number>;
  /** Restarts the external PostgreSQL as an operator does. */
  restartDatabase(): Promise<void>;
  /** Queries the database directly, without the service. Retries while the database cannot be reached. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  bucket(): DrillBucket;
  relay(): Relay;
  /** Returns the paths or keys of the stored objects, such as `originals/aa/bb/...`. */
  objects(): Promise<string[]>;
  /** Runs a command of Vitrine beside the service. */
  run(...args: string[]): Promise<{ exitCode: number; lines: string[] }>;
  /** Stops all processes and removes the directory. */
  close(): Promise<void>;
}

type Connection = EmbeddedDatabase['connection'];

function addressOf({ host, user, password, database }: Connection, relay: Relay | null): string {
  const given = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
  if (relay !== null) return `postgres://${given}@127.0.0.1:${relay.port}/${database}`;
  return `postgres://${given}@/${database}?host=${encodeURIComponent(host)}`;
}

/** The parts of the library whose files are objects. */
const objectParts = ['originals', 'renditions', 'subtitles', 'logos'];

/** Returns the paths of all files below a directory. */
export async function pathsBelow(
  directory: string,
  kind: 'files' | 'everything' = 'files',
): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => kind === 'everything' || entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const REACHED_WITHIN_MS = 60_000;
const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Opens a place below the directory for temporary files. Throws CannotMount when the requested disk is not available.
 */
export async function openPlace(options: PlaceOptions): Promise<Place> {
  const base = await mkdtemp(join(tmpdir(), 'vitrine-drill-'));
  // As root, PostgreSQL runs as another user, which must be able to reach its directory.
  await chmod(base, 0o755);
  const undo: (() => Promise<void>)[] = [() => rm(base, { recursive: true, force: true })];
  const undoAll = async () => {
    for (const step of undo.reverse()) await step();
    for (const signal of signals) process.off(signal, interrupted);
  };
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= undoAll();
    return closed;
  };
  const interrupted = () => void close().then(() => process.exit(130));
  for (const signal of signals) process.once(signal, interrupted);
  try {
    const dataDir = join(base, 'library');
    await mkdir(dataDir);
    if (options.diskMegabytes !== undefined) undo.push(await mountSmallDisk(dataDir, options.diskMegabytes));
    const serverDir = options.database === 'embedded' ? dataDir : join(base, 'database');
    let server: EmbeddedDatabase | undefined;
    const startServer = () => startEmbedded({ dataDir: serverDir, log: () => {} });
    if (options.database === 'external') {
      server = await startServer();
      undo.push(async () => server?.stop());
    }
    let service: VitrineProcess | undefined;
    const running = () => {
      if (service === undefined) throw new Error('the service is not started yet');
      return service;
    };
    const { relay: where } = options;
    const relay =
      where === undefined
        ? null
        : await openRelay(() => {
            if (where === 'clients')
              return { host: '127.0.0.1', port: Number(new URL(running().address).port) };
            const { host, port } = embeddedConnection(serverDir);
            return { path: join(host, `.s.PGSQL.${port}`) };
          });
    undo.push(async () => relay?.close());
    const bucket = options.bucket === true ? await startBucket(join(base, 'bucket')) : null;
    undo.push(async () => bucket?.close());
    const env = {
      VITRINE_ADMIN_USERNAME: admin.username,
      VITRINE_ADMIN_PASSWORD: admin.password,
      VITRINE_SECRET_KEY: 'a-key-of-at-least-32-characters-for-the-drill',
      ...(server === undefined
        ? {}
        : { DATABASE_URL: addressOf(server.connection, where === 'database' ? relay : null) }),
      ...bucket?.env,
    };
    service = await startVitrine('start', dataDir, env);
    undo.push(async () => service?.stop());
    let worker = options.worker === true ? await startVitrine('worker', dataDir, env) : null;
    undo.push(async () => worker?.stop());
    return {
      dataDir,
      journal: join(base, 'acknowledged'),
      address: () =>
        where === 'clients' && relay !== null ? `http://127.0.0.1:${relay.port}` : running().address,
      service: running,
      worker() {
        if (worker === null) throw new Error('this place has no worker');
        return worker;
      },
      async restartService() {
        service = await startVitrine('start', dataDir, env);
      },
      async restartWorker() {
        worker = await startVitrine('worker', dataDir, env);
      },
      bucket() {
        if (bucket === null) throw new Error('this place has no bucket');
        return bucket;
      },
      relay() {
        if (relay === null) throw new Error('this place has no relay');
        return relay;
      },
      async objects() {
        if (bucket !== null) return bucket.keys();
        const library = join(dataDir, 'library');
        const paths = await Promise.all(objectParts.map((part) => pathsBelow(join(library, part))));
        return paths.flat().map((path) => path.slice(library.length + 1));
      },
      run: (...args) => runVitrine(args, dataDir, env),
      postmaster: () => postmasterOf(serverDir),
      async restartDatabase() {
        await server?.stop();
        server = await startServer();
      },
      async query(text, values) {
        const until = Date.now() + REACHED_WITHIN_MS;
        for (;;) {
          const client = new pg.Client({ ...embeddedConnection(serverDir), ssl: false });
          client.on('error', () => {});
          try {
            await client.connect();
            return (await client.query(text, values)).rows;
          } catch (error) {
            if (Date.now() > until) throw error;
            await sleep(100);
          } finally {
            await client.end().catch(() => {});
          }
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
