import { type RawBuilder, sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { originalKey, renditionsPrefix, subtitlesKey } from '../../../platform/storage/object-key.ts';
import { mayRemoveFiles } from '../../../platform/storage/removal.ts';
import { lockFile } from '../../assets/insert.ts';
import { enqueueRelease, forgetUnusedFile } from '../../assets/used-files.ts';
import { readTrashRetention } from '../retention.ts';

/** Rows per transaction. */
const BATCH = 200;

interface Purged {
  posts: number;
  assets: number;
  collections: number;
}

/** Locks rows before the final check, and skips those that are being restored or purged elsewhere. */
function expired(table: keyof Purged, days: number): RawBuilder<unknown> {
  return sql`expired as materialized (
    select id from ${sql.table(table)} where deleted_at < now() - make_interval(days => ${days})
    limit ${BATCH} for update skip locked)`;
}

/** Removes the history of field values; the values themselves are removed by their foreign key. */
const forgotten = sql`forgotten as (
  delete from field_value_history where subject_id in (select id from expired))`;

/** Tables whose rows have no bytes. */
async function purgeRows(db: Database, table: 'posts' | 'collections', days: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with ${expired(table, days)}, ${forgotten} delete from ${sql.table(table)} where id in (select id from expired)`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0n);
}

/**
 * Deletes the rows of assets; a job of the same transaction releases bytes and subtitles that no asset uses any more.
 */
async function purgeAssets(db: Database, days: number): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ file_hash: string; is_asset: boolean }>`
      with ${expired('assets', days)}, ${forgotten}, gone as (
        delete from assets where id in (select id from expired) returning file_hash)
      select file_hash, true as is_asset from gone union all
      select file_hash, false from subtitles where asset_id in (select id from expired) union all
      select file_hash, false from asset_versions where asset_id in (select id from expired) union all
      select interim_hash, false from assets where id in (select id from expired) and interim_hash is not null union all
      select film_hash, false from assets where id in (select id from expired) and film_hash is not null`.execute(
      tx,
    );
    await enqueueRelease(
      tx,
      rows.map(({ file_hash }) => file_hash),
    );
    return rows.filter(({ is_asset }) => is_asset).length;
  });
}

function anything({ posts, assets, collections }: Purged): boolean {
  return posts + assets + collections > 0;
}

/** Purges what has been in the trash longer than the retention; nothing without one. */
export async function purge(db: Database): Promise<Purged> {
  const days = await readTrashRetention(db);
  const purged: Purged = { posts: 0, assets: 0, collections: 0 };
  if (days === null) return purged;
  for (const table of ['posts', 'collections'] as const) {
    for (let count = BATCH; count === BATCH; purged[table] += count) count = await purgeRows(db, table, days);
  }
  for (let count = BATCH; count === BATCH; purged.assets += count) count = await purgeAssets(db, days);
  if (anything(purged)) {
    await db
      .transaction()
      .execute((tx) => recordEvent(tx, null, { event: 'trash.purged', metadata: { ...purged } }));
  }
  return purged;
}

export function purgeJob({ db }: Pick<Deps, 'db'>): JobHandler<'purge'> {
  return async (_, { log }) => {
    const purged = await purge(db);
    if (anything(purged)) log.info(purged, 'purged the trash');
  };
}

/**
 * Removes bytes, their renditions and subtitles once no asset has them. The deletion of the row is committed first; the
 * bytes follow under the same lock and only while there is no row, so that a new upload keeps them or stores them
 * again. A crash or a backup in between leaves objects for a retry or the sweep.
 */
export async function releaseBytes(
  { db, storage }: Pick<Deps, 'db' | 'storage'>,
  hash: string,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockFile(tx, hash);
    await forgetUnusedFile(tx, hash);
  });
  await db.transaction().execute(async (tx) => {
    await lockFile(tx, hash);
    if (!(await mayRemoveFiles(tx))) return;
    const track = await tx
      .selectFrom('subtitles')
      .select('lang')
      .where('file_hash', '=', hash)
      .limit(1)
      .executeTakeFirst();
    if (track === undefined) await storage.delete(subtitlesKey(hash));
    const kept = await tx.selectFrom('files').select('hash').where('hash', '=', hash).executeTakeFirst();
    if (kept !== undefined) return;
    for await (const object of storage.list(renditionsPrefix(hash))) await storage.delete(object.key);
    await storage.delete(originalKey(hash));
  });
}

export function releaseBytesJob(deps: Pick<Deps, 'db' | 'storage'>): JobHandler<'release-bytes'> {
  return async ({ hash }) => releaseBytes(deps, hash);
}
