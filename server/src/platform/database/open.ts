import { availableParallelism } from 'node:os';
import type pg from 'pg';
import { sentence } from '../language/sentence.ts';
import { type EmbeddedConnection, embeddedConnection, LibraryInUse, startEmbedded } from './embedded.ts';
import { isRestoring, migrate } from './migrate.ts';
import { type DatabasePool, openPool, openPoolerPool, type PoolerPool } from './pool.ts';
import { refusePooler, refuseWrongDirect } from './pooler.ts';
import { openReplica, type Replica } from './replica.ts';
import { DatabaseUnusable, unusable } from './unusable.ts';

export interface OpenDatabase extends DatabasePool {
  /** Resolves when the embedded server ends unexpectedly; never for an external server. */
  lost: Promise<void>;
}

/** Which database a library uses, as configured. */
export interface DatabaseConfig {
  dataDir: string;
  databaseUrl: string | null;
  databaseDirectUrl: string | null;
  /** A streaming replica of `databaseUrl`. */
  databaseReplicaUrl: string | null;
  postgresBinDir: string | null;
  /** The uid that PostgreSQL runs as when Vitrine runs as root. */
  postgresUid: number;
  /** Number of processes that serve and connect to the embedded server. */
  processes: number;
}

export interface OpenOptions {
  /**
   * Uses an existing library only, and connects to the embedded server of another Vitrine process on it instead of
   * failing.
   */
  join: boolean;
  /** False skips migrations, for read-only tools. */
  migrate?: boolean;
  log(message: string): void;
  /** Called when the embedded server has been launched, to do other work until it accepts connections. */
  onLaunch?(): void;
}

/** A small machine performs best with few connections; jobs and liveness checks need some in addition to requests. */
function connections(): number {
  return Math.max(6, availableParallelism() * 2 + 2);
}

const never = new Promise<void>(() => {});

/** Connects once, to report an unreachable address as such; skipped for read-only tools. */
async function openOwn(connectionString: string, options: OpenOptions): Promise<OpenDatabase> {
  const opened = openPool({ connectionString }, connections(), options.log);
  if (options.migrate === false) return { ...opened, lost: never };
  try {
    await requireDirect(opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
  return { ...opened, lost: never };
}

/** Throws DatabaseUnusable unless DATABASE_URL leads to PostgreSQL itself. */
async function requireDirect({ pool }: DatabasePool): Promise<void> {
  await refusePooler(pool).catch((error: unknown) => {
    throw unusable('DATABASE_URL', error);
  });
}

/** Throws DatabaseUnusable unless both addresses lead to the same database, and the direct one to PostgreSQL itself. */
async function requirePair({ pool, shared }: PoolerPool): Promise<void> {
  let asked = 'DATABASE_URL';
  try {
    await shared.query('select 1');
    asked = 'VITRINE_DATABASE_DIRECT_URL';
    await refuseWrongDirect(pool, shared);
  } catch (error) {
    throw unusable(asked, error);
  }
}

/** Checks the addresses as a start does, for the doctor; throws DatabaseUnusable (RUN-36). */
export async function examineAddresses(databaseUrl: string, directUrl: string | null): Promise<void> {
  const own = { connectionString: databaseUrl };
  if (directUrl === null) {
    const opened = openPool(own, 1);
    return requireDirect(opened).finally(() => opened.close());
  }
  const opened = openPoolerPool(own, { connectionString: directUrl }, { pooler: 1, direct: 1 });
  return requirePair(opened).finally(() => opened.close());
}

/** Opens a database behind a transaction pooler. Only jobs and LISTEN need sessions. */
async function openBehindPooler(
  poolerUrl: string,
  directUrl: string,
  options: OpenOptions,
): Promise<OpenDatabase> {
  const opened = openPoolerPool(
    { connectionString: poolerUrl },
    { connectionString: directUrl },
    { pooler: connections(), direct: availableParallelism() + 2 },
    options.log,
  );
  if (options.migrate === false) return { ...opened, lost: never };
  try {
    await requirePair(opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
  return { ...opened, lost: never };
}

/** Opens the database at DATABASE_URL. */
async function openGiven(
  databaseUrl: string,
  { databaseDirectUrl: directUrl }: DatabaseConfig,
  options: OpenOptions,
): Promise<OpenDatabase> {
  return directUrl === null
    ? openOwn(databaseUrl, options)
    : openBehindPooler(databaseUrl, directUrl, options);
}

/** Connects to the server of another Vitrine process. */
function joinEmbedded(config: DatabaseConfig): EmbeddedConnection {
  try {
    return embeddedConnection(config.dataDir);
  } catch (error) {
    throw unusable('VITRINE_DATA', error);
  }
}

async function openEmbedded(config: DatabaseConfig, options: OpenOptions): Promise<OpenDatabase> {
  try {
    const server = await startEmbedded({
      dataDir: config.dataDir,
      log: options.log,
      ...(options.onLaunch === undefined ? {} : { onLaunch: options.onLaunch }),
      databaseUid: config.postgresUid,
      settings: { max_connections: String(60 + (config.processes - 1) * (connections() + 2)) },
      ...(config.postgresBinDir === null ? {} : { binDir: config.postgresBinDir }),
    });
    const opened = openPool(server.connection, connections(), options.log);
    let closing = false;
    return {
      ...opened,
      lost: server.exited.then(() => (closing ? never : undefined)),
      async close() {
        closing = true;
        await opened.close();
        await server.stop();
      },
    };
  } catch (error) {
    if (!options.join || !(error instanceof LibraryInUse)) {
      throw unusable(config.postgresBinDir === null ? 'VITRINE_DATA' : 'VITRINE_POSTGRES_BIN', error);
    }
    return { ...openPool(joinEmbedded(config), connections(), options.log), lost: never };
  }
}

/** Opens the configured replica; null without one. It connects in the background. */
export function openReplicaOf(
  { databaseUrl, databaseDirectUrl, databaseReplicaUrl }: DatabaseConfig,
  log: OpenOptions['log'],
): Replica | null {
  const primaryUrl = databaseDirectUrl ?? databaseUrl;
  if (databaseReplicaUrl === null || primaryUrl === null) return null;
  return openReplica({
    primary: { connectionString: primaryUrl },
    replica: { connectionString: databaseReplicaUrl },
    connections: connections(),
    log,
  });
}

/** Throws DatabaseUnusable when the database has no library yet, which only a start or a restore creates (RUN-31). */
export async function requireTables(
  pool: Pick<pg.ClientBase, 'query'>,
  { databaseUrl, dataDir }: Pick<DatabaseConfig, 'databaseUrl' | 'dataDir'>,
): Promise<void> {
  const { rows } = await pool.query<{ empty: boolean }>(
    `select to_regclass('public.migrations') is null as empty`,
  );
  if (rows[0]?.empty !== true || (await isRestoring(pool))) return;
  throw new DatabaseUnusable(
    databaseUrl === null
      ? sentence('there is no library in {directory}; vitrine start creates one', { directory: dataDir })
      : sentence('there is no library in the database of DATABASE_URL; vitrine start creates one'),
  );
}

/** Opens the library's database, embedded or at DATABASE_URL, and migrates it to this version unless told otherwise. */
export async function openDatabase(config: DatabaseConfig, options: OpenOptions): Promise<OpenDatabase> {
  const opened =
    config.databaseUrl === null
      ? await openEmbedded(config, options)
      : await openGiven(config.databaseUrl, config, options);
  try {
    if (options.migrate === false) return opened;
    if (options.join) await requireTables(opened.pool, config);
    await migrate(opened.pool);
  } catch (error) {
    await opened.close();
    throw error;
  }
  return opened;
}
