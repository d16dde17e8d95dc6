import { type RawBuilder, sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import { enqueue, type JobHandler } from '../../../core/job-table.ts';
import { readSetting } from '../../../core/settings.ts';
import { type DrawnPart, outdatedParts } from '../../../media/drawing-changes.ts';
import { isRenderable, MAKERS_VERSION } from '../../../media/renderable.ts';
import { sniff } from '../../../media/sniff.ts';
import { TILES } from '../../../media/tiles/pack.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { queuedJobs } from '../../../platform/jobs/queue-tables.ts';
import { originalKey } from '../../../platform/storage/object-key.ts';
import { type Storage, StorageUnavailable } from '../../../platform/storage/storage.ts';
import { backfillKeys, enqueueBackfill, type StoredWork } from '../decoding-jobs.ts';
import { lackingOf, type StoredFile } from './lacking.ts';
import { readLadder } from './ladder.ts';

/**
 * Number of files in the queue at once: small, so that a pause takes effect soon and uploads do not wait behind them.
 */
const BATCH = 50;
/** Number of files that one step checks; most of them lack nothing, but the bytes of some must be read. */
const LOOKED_AT = 200;
const NEXT_BATCH_MS = 5000;

/** Files with previews of an earlier ladder. The condition of the index files_by_ladder. */
const isOfEarlierLadder = (version: number) =>
  sql<boolean>`(f.renditions ? 'col' and f.ladder_version < ${version})`;
/** Files last processed by an earlier version. The condition of the index files_by_makers. */
const isOfEarlierMakers = sql<boolean>`f.makers_version < ${MAKERS_VERSION}`;

/** Starts rendering stored files that need it, in the transaction that changes the ladder. */
export async function enqueueRerender(tx: Database, runAt?: string): Promise<void> {
  await enqueue(tx, 'render-again', {}, { key: 'render-again', ...(runAt === undefined ? {} : { runAt }) });
}

/** Continues with stored files that need rendering, as after an upgrade. */
export async function resumeRerender(db: Database): Promise<void> {
  const { waiting } = await countRerendered(db);
  if (waiting > 0) await enqueueRerender(db);
}

/** Returns how many stored files there are, and how many of them wait for the background job. */
export async function countRerendered(
  db: Database,
): Promise<{ waiting: number; done: number; total: number }> {
  const { version } = await readLadder(db);
  const { rows } = await sql<{ total: number; waiting: number }>`
    select (select count(*) from files) as total,
      (select count(*) from files f where ${isOfEarlierLadder(version)})
      + (select count(*) from files f where ${isOfEarlierMakers} and not ${isOfEarlierLadder(version)}) as waiting`.execute(
    db,
  );
  const { total = 0, waiting = 0 } = rows[0] ?? {};
  return { waiting, done: total - waiting, total };
}

/** Records that a file has everything that the current makers can make of it. */
export async function markCurrent(db: Database, hash: string): Promise<void> {
  await sql`update files set makers_version = ${MAKERS_VERSION}
    where hash = ${hash} and makers_version < ${MAKERS_VERSION}`.execute(db);
}

export interface Candidate extends StoredFile {
  is_of_earlier_ladder: boolean;
  is_of_earlier_makers: boolean;
  /** Whether a peer makes its previews (FED-71). */
  is_mirrored: boolean;
  /** Keys of pending jobs for the file. */
  queued: string[];
}

/** Returns the next files that need work, those of an earlier ladder first. */
export function staleFiles(ladderVersion: number): RawBuilder<Candidate> {
  return sql<Candidate>`
    with stale as (
      (select f.hash from files f where ${isOfEarlierLadder(ladderVersion)} order by f.ladder_version, f.hash limit ${BATCH})
      union
      (select f.hash from files f where ${isOfEarlierMakers} order by f.makers_version, f.hash limit ${LOOKED_AT}))
    select f.hash, f.mime, f.makers_version, f.pixel_width as width, f.pixel_height as height, f.media, f.text <> '' as has_text,
      f.text ~ '[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]' as has_east_asian_text,
      f.text ~ '[\u0590-\u06ff\ufb1d-\ufdff\ufe70-\ufefc]' as has_right_to_left_text,
      f.renditions ? 'col' as has_ladder, f.renditions ? ${TILES}::text as has_tiles, t.file_hash is not null as has_transcode,
      ${isOfEarlierLadder(ladderVersion)} as is_of_earlier_ladder, ${isOfEarlierMakers} as is_of_earlier_makers,
      f.origin_peer_id is not null as is_mirrored,
      array(select q.key from ${queuedJobs} q
        where q.key = any(${backfillKeys(sql`f.hash`)}) and q.attempts < q.max_attempts) as queued
    from stale join files f using (hash) left join transcodes t on t.file_hash = f.hash
    order by is_of_earlier_ladder desc, f.hash`;
}

/** Returns the media type of stored bytes by today's detection; the recorded one when the file cannot be read. */
async function mimeNow(storage: Storage, { hash, mime, has_ladder }: StoredFile): Promise<string> {
  if (isRenderable(mime) && has_ladder) return mime;
  try {
    return (await storage.withLocalFile(originalKey(hash), sniff)).mime;
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error;
    // The doctor reports missing originals; the other files do not wait for this one.
    return mime;
  }
}

/** Returns what of a file an earlier version drew otherwise; nothing if that cannot be read from its bytes. */
async function outdatedPartsOf(storage: Storage, file: StoredFile): Promise<ReadonlySet<DrawnPart>> {
  if (!file.has_ladder) return new Set();
  return outdatedParts(file, async (check) => {
    try {
      return await storage.withLocalFile(originalKey(file.hash), check);
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      return false;
    }
  });
}

/** What a step found out about stored files. */
interface Findings {
  renamed: readonly { hash: string; mime: string }[];
  /** Files that lack nothing. */
  complete: readonly string[];
  mirrored: readonly string[];
  /** Files whose tiles were drawn otherwise; the render job makes them again. */
  untiled: readonly string[];
}

/** Records the detected types, which files lack nothing, and that mirrored files are not rendered here. */
async function writeFindings(
  tx: Tx,
  ladderVersion: number,
  { renamed, complete, mirrored, untiled }: Findings,
): Promise<void> {
  await sql`update files f set mime = x.mime
    from unnest(${renamed.map(({ hash }) => hash)}::text[], ${renamed.map(({ mime }) => mime)}::text[]) x (hash, mime)
    where f.hash = x.hash`.execute(tx);
  await sql`update files set makers_version = ${MAKERS_VERSION} where hash = any(${complete}::text[])`.execute(
    tx,
  );
  await sql`update files set makers_version = ${MAKERS_VERSION}, ladder_version = ${ladderVersion}
    where hash = any(${mirrored}::text[])`.execute(tx);
  await sql`update files set renditions = renditions - ${TILES}::text where hash = any(${untiled}::text[])`.execute(
    tx,
  );
}

/**
 * Enqueues the next files that have previews of an earlier ladder or lack what an earlier version did not make, and
 * then itself while there are any. Idempotent: a pending file is not enqueued again, and its own job records
 * completion. A pause ends the chain, and resuming restarts it.
 */
export function rerenderJob({ db, storage }: Pick<Deps, 'db' | 'storage'>): JobHandler<'render-again'> {
  return async () => {
    if ((await readSetting(db, 'previews_paused')) === true) return;
    const { version, rungs } = await readLadder(db);
    const { rows: stale } = await staleFiles(version).execute(db);
    if (stale.length === 0) return;
    const renamed: { hash: string; mime: string }[] = [];
    const complete: string[] = [];
    const mirrored: string[] = [];
    const untiled: string[] = [];
    const works: StoredWork[] = [];
    const underWay = stale.filter((file) => !file.is_mirrored && file.queued.length > 0).length;
    for (const file of stale) {
      const { hash } = file;
      if (file.is_mirrored) {
        mirrored.push(hash);
        continue;
      }
      const mime = file.is_of_earlier_makers ? await mimeNow(storage, file) : file.mime;
      if (mime !== file.mime) renamed.push({ hash, mime });
      if (file.queued.length > 0 || works.length + underWay >= BATCH) continue;
      const outdated = await outdatedPartsOf(storage, { ...file, mime });
      const isRedrawn = file.is_of_earlier_ladder || outdated.has('previews');
      const lacking = isRedrawn ? 'render' : lackingOf({ ...file, mime }, rungs);
      if (outdated.has('previews')) untiled.push(hash);
      if (outdated.has('streams')) works.push({ job: 'transcode', hash, mime });
      if (lacking !== null && !(lacking === 'transcode' && outdated.has('streams')))
        works.push({ job: lacking, hash, mime });
      if (lacking === null && !outdated.has('streams')) complete.push(hash);
    }
    await db.transaction().execute(async (tx) => {
      await writeFindings(tx, version, { renamed, complete, mirrored, untiled });
      await enqueueBackfill(tx, works);
      // Continues immediately after a batch that needs no work; otherwise waits, so that other jobs run first.
      const wait = works.length + underWay === 0 ? 0 : NEXT_BATCH_MS;
      await enqueueRerender(tx, new Date(Date.now() + wait).toISOString());
    });
  };
}
