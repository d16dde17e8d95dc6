import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type Config, ConfigError } from './config.ts';
import { crontab, jobHandlers } from './jobs.ts';
import { tuneSharp } from './media/raster.ts';
import { type OpenDatabase, openDatabase } from './platform/database/open.ts';
import { startWorker, type Worker } from './platform/jobs/worker.ts';
import { openDiskStorage } from './platform/storage/disk.ts';
import { openService } from './service.ts';

/** Something that runs until it is stopped or its database is lost. */
export interface Running {
  /** Where it listens, when it does. */
  url: string | null;
  database: OpenDatabase;
  stop(): Promise<void>;
}

/** The library's bytes, below its data directory. */
export function openLibraryStorage(config: Config) {
  return openDiskStorage(join(config.dataDir, 'library'));
}

/** Serves pages and API on one port, and unless told otherwise works on jobs in the same process. */
export async function startServing(config: Config, options: { worker: boolean }): Promise<Running> {
  const database = await openDatabase(config, { join: false, log: (message) => console.error(message) });
  try {
    const storage = await openLibraryStorage(config);
    const { server, deps } = await openService({ db: database.db, storage, config });
    tuneSharp({ concurrency: 1 });
    const url = await listen(server, config);
    const worker = options.worker
      ? await startWorker({
          pool: database.pool,
          handlers: jobHandlers(deps),
          concurrency: availableParallelism(),
          log: server.log,
          crontab,
        })
      : null;
    return { url, database, stop: () => stopAll(worker, () => server.close(), database) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Works on jobs alone, beside processes that serve. */
export async function startWorking(config: Config): Promise<Running> {
  const database = await openDatabase(config, { join: true, log: (message) => console.error(message) });
  const storage = await openLibraryStorage(config);
  const { server, deps } = await openService({ db: database.db, storage, config });
  tuneSharp({ concurrency: 1 });
  const worker = await startWorker({
    pool: database.pool,
    handlers: jobHandlers(deps),
    concurrency: availableParallelism(),
    log: server.log,
    crontab,
  });
  return { url: null, database, stop: () => stopAll(worker, () => server.close(), database) };
}

async function listen(
  server: { listen(to: { host: string; port: number }): Promise<string> },
  { host, port }: Config,
): Promise<string> {
  try {
    return await server.listen({ host, port });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
      throw new ConfigError(`port ${port} is in use; set VITRINE_PORT to another`);
    }
    throw error;
  }
}

async function stopAll(worker: Worker | null, closeServer: () => Promise<unknown>, database: OpenDatabase) {
  await closeServer();
  await worker?.stop();
  await database.close();
}
