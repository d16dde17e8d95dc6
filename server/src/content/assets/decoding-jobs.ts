import { type RawBuilder, sql } from 'kysely';
import { enqueue, enqueueAll } from '../../core/job-table.ts';
import { turnFlags } from '../../media/decoding/turns.ts';
import { previewKind } from '../../media/renderable.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';

/** Above this number of files, an owner's files wait in the order of upload. */
const MOST_TURNS = 1000;

/** The owner key of files that are processed without a requester. */
export const NO_OWNER = 'nobody';

/**
 * Returns how many files of this owner wait to be rendered. Used as a job's priority, it interleaves the owners fairly.
 */
async function countWaiting(tx: Tx, ownerRef: number | null): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`
    select count(*)::integer as waiting from (
      select from assets where owner_user_ref = ${ownerRef} and processing_status = 'pending' limit ${MOST_TURNS}) w`.execute(
    tx,
  );
  return rows[0]?.waiting ?? 0;
}

/**
 * Enqueues the rendering of a file in its owner's turn, in the transaction that makes the asset pending. `ownerRef` is
 * null for a repair. Starts no earlier than `runAt`, if given. `again`: even if the file has its ladder. `anew`: under names that its
 * renditions have not had.
 */
export async function enqueueRender(
  tx: Tx,
  {
    hash,
    mime,
    ownerRef,
    runAt,
    again,
    anew,
  }: { hash: string; mime: string; ownerRef: number | null; runAt?: string; again?: true; anew?: true },
): Promise<void> {
  const owner = ownerRef === null ? NO_OWNER : String(ownerRef);
  const options = {
    // Another owner of the same bytes must not move this job into another turn.
    key: `render:${hash}:${owner}`,
    priority: await countWaiting(tx, ownerRef),
    flags: turnFlags(previewKind(mime), owner),
    ...(runAt === undefined ? {} : { runAt }),
  };
  const how = { ...(again === undefined ? {} : { again }), ...(anew === undefined ? {} : { anew }) };
  await enqueue(tx, 'render', { hash, owner, ...how }, options);
}

/**
 * Enqueues the renditions of a file that take long, in this owner's turn (see `enqueueRender`), no earlier than
 * `runAt`. A running transcode of the file continues and remains the only one.
 */
export async function enqueueTranscode(
  tx: Tx,
  { hash, owner, runAt }: { hash: string; owner: string; runAt?: string },
): Promise<void> {
  await sql`insert into transcodes (file_hash, state) values (${hash}, 'waiting')
    on conflict (file_hash) do update set state = 'waiting', progress = 0, error = null
    where transcodes.state <> 'running' or transcodes.updated_at < now() - interval '1 minute'`.execute(tx);
  const options = {
    key: `transcode:${hash}:${owner}`,
    flags: turnFlags('transcode', owner),
    ...(runAt === undefined ? {} : { runAt }),
  };
  await enqueue(tx, 'transcode', { hash, owner }, options);
}

/** A new asset whose file is decoded in the background. */
export interface Undecoded {
  id: string;
  hash: string;
  mime: string;
  /** Whether its renditions have to be made. */
  waits: boolean;
}

/** Enqueues the rendering of those new files of an owner that wait for it. Returns the priority of each place among the files. */
async function enqueueRenders(
  tx: Tx,
  ownerRef: number,
  assets: readonly Undecoded[],
): Promise<(place: number) => number> {
  const owner = String(ownerRef);
  const waiting = await countWaiting(tx, ownerRef);
  const priorityOf = (place: number) => Math.min(waiting + place, MOST_TURNS);
  const jobs = assets
    .filter(({ waits }) => waits)
    .map(({ hash, mime }, place) => ({
      payload: { hash, owner },
      key: `render:${hash}:${owner}`,
      priority: priorityOf(place),
      flags: turnFlags(previewKind(mime), owner),
    }));
  await enqueueAll(tx, 'render', jobs);
  return priorityOf;
}

const extractJob = ({ id, hash }: Undecoded, ownerRef: number) => ({
  payload: { hash, asset: id },
  key: `extract:${id}`,
  flags: turnFlags('metadata', String(ownerRef)),
});

/** Enqueues what `enqueueRender` and `enqueueExtract` do for many new assets of one owner, in two statements. */
export async function enqueueNew(tx: Tx, ownerRef: number, assets: readonly Undecoded[]): Promise<void> {
  const priorityOf = await enqueueRenders(tx, ownerRef, assets);
  const jobs = assets.map((asset, place) => ({
    ...extractJob(asset, ownerRef),
    priority: priorityOf(place),
  }));
  await enqueueAll(tx, 'extract', jobs);
}

/**
 * Does the same for new assets of several owners, most of which are rendered already. Their metadata is read when
 * `readMetadataNow` is called, or else a day later.
 */
export async function enqueueRendered(
  tx: Tx,
  assets: readonly (Undecoded & { owner: number })[],
): Promise<void> {
  const waiting = assets.filter(({ waits }) => waits);
  for (const [owner, own] of Map.groupBy(waiting, ({ owner }) => owner)) await enqueueRenders(tx, owner, own);
  const runAt = new Date(Date.now() + CALLED_WITHIN_MS).toISOString();
  const jobs = assets.map((asset) => ({
    ...extractJob(asset, asset.owner),
    priority: WHEN_CALLED,
    runAt,
  }));
  await enqueueAll(tx, 'extract', jobs);
}

/** Starts the jobs that `enqueueRendered` postponed. */
export async function readMetadataNow(db: Database): Promise<void> {
  await sql`select count(*) from graphile_worker.reschedule_jobs(array(
      select id from graphile_worker.jobs where task_identifier = 'extract' and priority = ${WHEN_CALLED} and run_at > now()),
    run_at => now())`.execute(db);
}

/** Renditions come before tiles, which are less urgent. */
const AFTER_ALL = 10_000;

/** The priority of postponed jobs: after other renditions and metadata, before tiles. */
const WHEN_CALLED = 9000;
/** They start after this time by themselves, in case the process that starts them is killed. */
const CALLED_WITHIN_MS = 86_400_000;

/**
 * Enqueues the tiles of a picture, in the turn of this owner, in the form of a render job. Starts no earlier than
 * `runAt`, if given.
 */
export async function enqueueTiles(
  tx: Database,
  { hash, owner = NO_OWNER, runAt }: { hash: string; owner?: string | undefined; runAt?: string },
): Promise<void> {
  const options = {
    key: `tiles:${hash}`,
    priority: AFTER_ALL,
    flags: turnFlags('tiles', owner),
    ...(runAt === undefined ? {} : { runAt }),
  };
  await enqueue(tx, 'tiles', { hash, owner }, options);
}

/** What the background job has made of a stored file. */
export interface StoredWork {
  job: 'render' | 'transcode' | 'tiles';
  hash: string;
  mime: string;
}

const storedKeys = {
  render: (hash: string) => `render:${hash}:${NO_OWNER}`,
  transcode: (hash: string) => `transcode:${hash}:${NO_OWNER}`,
  tiles: (hash: string) => `tiles:${hash}`,
};

/** Returns the keys of the jobs that process a stored file, as an SQL array; `hash` is an expression. */
export function backfillKeys(hash: RawBuilder<unknown>): RawBuilder<string[]> {
  return sql`array['render:' || ${hash} || ':' || ${NO_OWNER}::text, 'transcode:' || ${hash} || ':' || ${NO_OWNER}::text, 'tiles:' || ${hash}]`;
}

/**
 * Enqueues what stored files lack, without a requester and after everything that someone waits for, in one statement
 * per kind of job and in the caller's transaction.
 */
export async function enqueueBackfill(tx: Tx, works: readonly StoredWork[]): Promise<void> {
  const worksOf = (job: StoredWork['job']) => works.filter((work) => work.job === job);
  const optionsOf = ({ job, hash, mime }: StoredWork) => ({
    key: storedKeys[job](hash),
    priority: AFTER_ALL,
    flags: turnFlags(job === 'render' ? previewKind(mime) : job, NO_OWNER),
  });
  await enqueueAll(
    tx,
    'render',
    worksOf('render').map((work) => ({
      payload: { hash: work.hash, owner: NO_OWNER, again: true, anew: true },
      ...optionsOf(work),
    })),
  );
  const encoded = worksOf('transcode');
  await sql`insert into transcodes (file_hash, state)
    select hash, 'waiting' from unnest(${encoded.map(({ hash }) => hash)}::text[]) hash
    on conflict (file_hash) do update set state = 'waiting', progress = 0, error = null
    where transcodes.state <> 'running'`.execute(tx);
  for (const job of ['transcode', 'tiles'] as const) {
    await enqueueAll(
      tx,
      job,
      worksOf(job).map((work) => ({ payload: { hash: work.hash, owner: NO_OWNER }, ...optionsOf(work) })),
    );
  }
}

/**
 * Enqueues filling fields from a file: for a new asset, or with `asset` null for every asset with the file, which is
 * then read again. `ownerRef` is the requester, null for a repair. `renews`: the asset has a new version, so what was
 * read from the previous one is replaced.
 */
export async function enqueueExtract(
  tx: Tx,
  {
    hash,
    asset,
    ownerRef,
    renews,
  }: { hash: string; asset: string | null; ownerRef: number | null; renews?: true },
): Promise<void> {
  const options = {
    key: asset === null ? `extract-again:${hash}` : `extract:${asset}`,
    priority: await countWaiting(tx, ownerRef),
    flags: turnFlags('metadata', ownerRef === null ? NO_OWNER : String(ownerRef)),
  };
  await enqueue(tx, 'extract', { hash, asset, ...(renews === undefined ? {} : { renews }) }, options);
}
