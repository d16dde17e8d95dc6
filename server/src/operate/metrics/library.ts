import { setTimeout as sleep } from 'node:timers/promises';
import type { StorageCount } from '@vitrine/contract/storage';
import { sql } from 'kysely';
import type { Registry } from 'prom-client';
import type { Deps } from '../../core/deps.ts';
import { readStorageCount } from '../storage/overview.ts';
import { readLastBackup } from './last-backup.ts';

/** A scrape gives up on the database after this time and reports the other figures. */
const STATEMENT_TIMEOUT_MS = 2000;

interface Figures {
  jobs: { kind: string; waiting: number; running: number; failed: number }[];
  uploads: number;
  peerQueue: number;
  peerQueueAge: number;
  /** Null before the first count. */
  stored: StorageCount | null;
  /** When the last backup was made, in milliseconds since 1970; null: never. */
  backedUpAt: number | null;
}

/** Reads the figures from the database in four statements with a timeout. */
async function readFigures({ db }: Pick<Deps, 'db'>): Promise<Figures> {
  return db.transaction().execute(async (tx) => {
    await sql`select set_config('statement_timeout', ${String(STATEMENT_TIMEOUT_MS)}, true)`.execute(tx);
    const { rows: jobs } = await sql<Figures['jobs'][number]>`
      select task_identifier as kind,
        count(*) filter (where locked_at is null and attempts < max_attempts) as waiting,
        count(*) filter (where locked_at is not null) as running,
        count(*) filter (where locked_at is null and attempts >= max_attempts) as failed
      from graphile_worker.jobs group by task_identifier`.execute(tx);
    const { rows } = await sql<Omit<Figures, 'jobs' | 'stored' | 'backedUpAt'>>`
      select (select count(*) from uploads where used_at is null) as uploads,
        count(*) as "peerQueue",
        coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "peerQueueAge"
      from federation_outbox where status = 'queued'`.execute(tx);
    const stored = await readStorageCount(tx);
    const backedUpAt = await readLastBackup(tx);
    return { jobs, stored, backedUpAt, ...(rows[0] ?? { uploads: 0, peerQueue: 0, peerQueueAge: 0 }) };
  });
}

/** Opens the gauges of this library, which are the same in every process, and returns what reads their figures. */
export async function openLibraryGauges(deps: Deps): Promise<{ registry: Registry; read(): Promise<void> }> {
  const { Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const shared = { registers: [registry] };
  const jobs = new Gauge({
    name: 'vitrine_jobs',
    help: 'Waiting, running and permanently failed jobs by kind',
    labelNames: ['kind', 'state'],
    ...shared,
  });
  const uploads = new Gauge({
    name: 'vitrine_uploads_unfinished',
    help: 'Uploads without an asset',
    ...shared,
  });
  const queue = new Gauge({ name: 'vitrine_peer_queue', help: 'Changes that wait for peers', ...shared });
  const age = new Gauge({
    name: 'vitrine_peer_queue_age_seconds',
    help: 'Age of the oldest change that waits for a peer',
    ...shared,
  });
  const backup = new Gauge({
    name: 'vitrine_backup_age_seconds',
    help: 'Age of the last backup made with vitrine backup; infinite before the first one',
    ...shared,
  });
  const used = new Gauge({
    name: 'vitrine_storage_used_bytes',
    help: 'Bytes of stored files at the last count, every six hours',
    labelNames: ['kind'],
    ...shared,
  });
  const free = new Gauge({
    name: 'vitrine_storage_free_bytes',
    help: 'Free bytes of the volume of the library',
    ...shared,
  });
  const reserve = new Gauge({
    name: 'vitrine_storage_reserve_bytes',
    help: 'Bytes of the volume that are reserved for the database',
    ...shared,
  });
  const database = new Gauge({
    name: 'vitrine_database_up',
    help: 'Whether the figures of the database could be read',
    ...shared,
  });
  const unread = (error: unknown) => {
    deps.log.warn({ err: error }, 'figures for the metrics cannot be read');
    return null;
  };
  const read = async () => {
    const room = await deps.storage.room().catch(unread);
    free.set(room?.freeBytes ?? Number.NaN);
    reserve.set(room?.reserveBytes ?? Number.NaN);
    // Waiting for a connection may take longer than a scrape.
    const figures = await Promise.race([
      readFigures(deps).catch(unread),
      sleep(2 * STATEMENT_TIMEOUT_MS, null, { ref: false }),
    ]);
    database.set(figures === null ? 0 : 1);
    if (figures === null) return;
    jobs.reset();
    for (const { kind, waiting, running, failed } of figures.jobs) {
      jobs.set({ kind, state: 'waiting' }, waiting);
      jobs.set({ kind, state: 'running' }, running);
      jobs.set({ kind, state: 'failed' }, failed);
    }
    if (figures.stored !== null) {
      const { files, renditions, subtitles } = figures.stored;
      used.set({ kind: 'originals' }, files.bytes);
      used.set({ kind: 'renditions' }, renditions.bytes);
      used.set({ kind: 'subtitles' }, subtitles?.bytes ?? 0);
    }
    const { backedUpAt } = figures;
    backup.set(backedUpAt === null ? Number.POSITIVE_INFINITY : Math.max(0, Date.now() - backedUpAt) / 1000);
    uploads.set(figures.uploads);
    queue.set(figures.peerQueue);
    age.set(figures.peerQueueAge);
  };
  return { registry, read };
}
