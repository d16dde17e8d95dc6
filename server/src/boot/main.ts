import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { secretsOf } from '../core/config/known-secrets.ts';
import { type Config, ConfigError } from '../core/config.ts';
import type { Deps } from '../core/deps.ts';
import { openProcessMetrics, type ProcessMetrics } from '../operate/metrics/process.ts';
import { openLibraryStorage } from '../operate/storage/open.ts';
import { type OpenDatabase, openDatabase, openReplicaOf } from '../platform/database/open.ts';
import type { Replica } from '../platform/database/replica.ts';
import { safeLogForm } from '../platform/http/log-entries.ts';
import type { Worker, WorkerOptions } from '../platform/jobs/worker.ts';
import { sentence } from '../platform/language/sentence.ts';
import { openTracing, type Tracing } from '../platform/tracing/open.ts';
import type { OpenService } from './service.ts';

/** A process that runs until it is stopped or loses its database. */
export interface Running {
  /** The address it listens on, if it does. */
  url: string | null;
  deps: Deps;
  database: OpenDatabase;
  /** Null unless a token for metrics is configured. */
  metrics: ProcessMetrics | null;
  /** Resolves with the error when its worker cannot start; otherwise never. */
  failed: Promise<unknown>;
  stop(): Promise<void>;
}

/** How long a stop waits for files that are being decoded. */
const DECODING_GRACE_MS = 5_000;

/** Loading the worker blocks the event loop, and the first requests are already waiting. */
const WORKER_AFTER_MS = 200;

const never = new Promise<never>(() => {});

/**
 * Loads most modules. They take longer to load than PostgreSQL to start, so both happen at the same time. Node loads a
 * module once: a second call waits for the first.
 */
const loadService = () => import('./service.ts');

/** Logs lines about the database in the form of all others (RUN-35). */
function logOf(config: Config): (message: string) => void {
  const log = pino({ level: config.logLevel, ...safeLogForm(secretsOf(config)) });
  return (message) => log.warn({ part: 'database' }, message);
}

/** Opens the database, and loads the modules meanwhile. */
function openDatabaseOf(config: Config, join: boolean): Promise<OpenDatabase> {
  return openDatabase(config, {
    join,
    log: logOf(config),
    onLaunch() {
      // A module that cannot be loaded is reported when it is awaited.
      loadService().catch(() => {});
    },
  });
}

async function prepareWorkerOf(
  deps: Deps,
  database: OpenDatabase,
  telemetry: Pick<WorkerOptions, 'tracing' | 'observe'>,
): Promise<() => Promise<Worker>> {
  const { prepareWorker } = await import('./worker.ts');
  return prepareWorker(deps, database, deps.config.jobs, telemetry);
}

/** How a process takes part in running a library. */
export interface Part {
  /** Whether it may use the embedded database of another process. */
  join: boolean;
  /** Whether it runs jobs too. */
  jobs: boolean;
  /** Whether other processes listen on the same port. */
  sharesPort: boolean;
}

/**
 * Serves pages and API on one port; by default with the library's own database and jobs in the same process. Returns once
 * it listens; the worker starts after that.
 */
export async function startServing(
  config: Config,
  { join, jobs, sharesPort }: Part = { join: false, jobs: true, sharesPort: false },
): Promise<Running> {
  const tracing = await openTracing(config.tracing);
  const database = await openDatabaseOf(config, join);
  const replica = openReplicaOf(config, logOf(config));
  let server: OpenService['server'] | null = null;
  try {
    const storage = await openLibraryStorage(config);
    const { openService } = await loadService();
    const service = await openService({
      db: database.db,
      listener: database.listener,
      storage,
      config,
      activity: database.activity,
      replica,
      tracing,
      hasSiblings: sharesPort,
    });
    const { deps, metrics } = service;
    const observe = metrics?.observeJob ?? null;
    server = service.server;
    const prepare = () => prepareWorkerOf(deps, database, { tracing, observe });
    // Unknown kinds of jobs are refused before the service listens (RUN-21). The worker usually loads after that.
    const prepared = jobs && config.jobs !== null ? await prepare() : null;
    const url = await listen(service.server, config, sharesPort);
    const startWorker = async () => {
      await sleep(WORKER_AFTER_MS);
      return (prepared ?? (await prepare()))();
    };
    const worker = jobs ? startWorker() : Promise.resolve(null);
    return {
      url,
      deps,
      database,
      metrics,
      failed: worker.then(
        () => never,
        (error: unknown) => error,
      ),
      stop: () => stopAll({ worker, service, deps, database, replica, tracing }),
    };
  } catch (error) {
    // The server may already be listening, and would keep a process without jobs alive.
    await server?.close();
    await replica?.close();
    await database.close();
    throw error;
  }
}

/** Runs jobs only, beside processes that serve; with a port, serves health and metrics there. */
export async function startWorking(
  config: Config,
  { join, port }: Pick<Part, 'join'> & { port: number | null },
): Promise<Running> {
  const tracing = await openTracing(config.tracing);
  const database = await openDatabaseOf(config, join);
  try {
    return await workOn(database, config, port, tracing);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function workOn(
  database: OpenDatabase,
  config: Config,
  port: number | null,
  tracing: Tracing | null,
): Promise<Running> {
  const storage = await openLibraryStorage(config);
  const { openDeps } = await loadService();
  const { openWorkerStatus } = await import('./worker-status.ts');
  const log = pino({ level: config.logLevel, ...safeLogForm(secretsOf(config)) });
  const deps = await openDeps(database.db, storage, config, log);
  const { activity } = database;
  const traces = tracing === null ? 'off' : 'on';
  const status = port === null ? null : await openWorkerStatus(deps, { activity, traces });
  const own = () => (config.metricsToken === null ? null : openProcessMetrics(deps, activity));
  const metrics = status === null ? await own() : status.metrics;
  const observe = metrics?.observeJob ?? null;
  try {
    const at = port === null ? null : { host: config.host, port };
    const url =
      status === null || at === null ? null : await listen(status.server, at, false, 'VITRINE_WORKER_PORT');
    const startWorker = await prepareWorkerOf(deps, database, { tracing, observe });
    const worker = await startWorker();
    const stopJobs = () =>
      stopAll({ worker: Promise.resolve(worker), service: null, deps, database, replica: null, tracing });
    return {
      url,
      deps,
      database,
      metrics,
      failed: never,
      async stop() {
        status?.announceStop();
        await stopJobs();
        await status?.server.close();
      },
    };
  } catch (error) {
    await status?.server.close();
    throw error;
  }
}

/** Converts an error of listening to the setting to change; returns any other unchanged. */
export function whyNotListening(
  error: unknown,
  { host, port }: Pick<Config, 'host' | 'port'>,
  setting = 'VITRINE_PORT',
): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'EADDRINUSE')
    return new ConfigError(
      sentence('port {port} is in use; set {setting} to another', { port: String(port), setting }),
    );
  if (code === 'EACCES')
    return new ConfigError(
      sentence('port {port} may not be used; set {setting} to another', { port: String(port), setting }),
    );
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new ConfigError(
      sentence('{host} is not an address of this machine; set VITRINE_HOST to one', {
        host: JSON.stringify(host),
      }),
    );
  }
  return error;
}

async function listen(
  server: { listen(to: { host: string; port: number; reusePort?: boolean }): Promise<string> },
  { host, port }: Pick<Config, 'host' | 'port'>,
  reusePort: boolean,
  setting?: string,
): Promise<string> {
  try {
    return await server.listen({ host, port, ...(reusePort ? { reusePort } : {}) });
  } catch (error) {
    throw whyNotListening(error, { host, port }, setting);
  }
}

/** Stops serving without failing a request: first readiness, then, once no new requests arrive, the connections. */
async function stopServing({ server, announceStop }: OpenService, { drainSeconds }: Config): Promise<void> {
  announceStop();
  await sleep(drainSeconds * 1000);
  await server.close();
}

/** How long closing may take when an abandoned job still holds a connection. */
const CLOSE_WITHIN_MS = 1000;

/** Returns whether `work` ends within this time. */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), ms);
  try {
    return await Promise.race([work.then(() => true), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Stops everything in order. No new jobs start; running ones may finish within the time of requests. An unfinished one
 * returns to the queue when this process is gone (platform/jobs/liveness.ts).
 */
async function stopAll({
  worker,
  service,
  deps: { config, decoders, metadata, log },
  database,
  replica,
  tracing,
}: {
  worker: Promise<Worker | null>;
  service: OpenService | null;
  deps: Deps;
  database: OpenDatabase;
  replica: Replica | null;
  tracing: Tracing | null;
}): Promise<void> {
  const drainSeconds = service === null ? 0 : config.drainSeconds;
  const limit = performance.now() + (drainSeconds + config.stopSeconds) * 1000;
  // A worker that could not start has been reported.
  const started = worker.catch(() => null);
  const jobs = started
    .then((runner) => runner?.stop())
    .catch((error: unknown) => log.warn({ err: error }, 'the job runner failed to stop'));
  if (service !== null) await stopServing(service, config);
  // A file that takes longer is abandoned; the next process repeats its job.
  const decoded = decoders.close(Math.min(DECODING_GRACE_MS, limit - performance.now()));
  const finished = await within(limit - performance.now(), jobs);
  if (!finished) log.warn('jobs under way did not finish in time; they are given back');
  await decoded;
  await metadata.close();
  await tracing?.close();
  await replica?.close();
  const closed = database.close();
  if (finished) await closed;
  else await within(CLOSE_WITHIN_MS, closed);
}
