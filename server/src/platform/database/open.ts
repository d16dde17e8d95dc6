import { availableParallelism } from 'node:os';
import type { Config } from '../../config.ts';
import { embeddedConnection, LibraryInUse, startEmbedded } from './embedded.ts';
import { migrate } from './migrate.ts';
import { type DatabasePool, openPool } from './pool.ts';
import { unusable } from './unusable.ts';

export interface OpenDatabase extends DatabasePool {
  /** Resolves when the embedded server ends although nobody closed it; never for a server of your own. */
  lost: Promise<void>;
}

export interface OpenOptions {
  /** Use the embedded server that another process of ours runs on this library, instead of refusing. */
  join: boolean;
  /** False: take the database as it is, for looking at it alone. */
  migrate?: boolean;
  log(message: string): void;
}

/** Few connections serve a small machine best; jobs and their liveness need some beside the requests. */
function connections(): number {
  return Math.max(6, availableParallelism() * 2 + 2);
}

const never = new Promise<void>(() => {});

/** Connects once, so that an address nobody answers at is told as what it is; for looking at it alone, not even that. */
async function openOwn(connectionString: string, options: OpenOptions): Promise<OpenDatabase> {
  const opened = openPool({ connectionString }, connections());
  if (options.migrate === false) return { ...opened, lost: never };
  try {
    await opened.pool.query('select 1');
  } catch (error) {
    await opened.close();
    throw unusable('DATABASE_URL', error);
  }
  return { ...opened, lost: never };
}

async function openEmbedded(config: Config, options: OpenOptions): Promise<OpenDatabase> {
  try {
    const server = await startEmbedded({
      dataDir: config.dataDir,
      log: options.log,
      ...(config.postgresBinDir === null ? {} : { binDir: config.postgresBinDir }),
    });
    const opened = openPool(server.connection, connections());
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
    return { ...openPool(embeddedConnection(config.dataDir), connections()), lost: never };
  }
}

/** Opens the library's database, embedded or by DATABASE_URL, migrated to this version unless it is to be left as it is. */
export async function openDatabase(config: Config, options: OpenOptions): Promise<OpenDatabase> {
  const opened =
    config.databaseUrl === null
      ? await openEmbedded(config, options)
      : await openOwn(config.databaseUrl, options);
  try {
    if (options.migrate !== false) await migrate(opened.pool);
  } catch (error) {
    await opened.close();
    throw error;
  }
  return opened;
}
