import { getVersionSettings, setVersionSettings } from '@vitrine/contract/versions';
import { type RawBuilder, sql } from 'kysely';
import { liveLink } from '../../access/links.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { enqueue, type JobHandler } from '../../core/job-table.ts';
import { readSetting, writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { enqueueRelease } from '../assets/used-files.ts';

/** How many earlier versions an asset keeps, and the removal of older ones (VERSION-8). */

/** Assets per transaction. */
const BATCH = 200;

/** Returns how many earlier versions an asset keeps; null for all. */
async function readKept(db: Database): Promise<number | null> {
  const value = await readSetting(db, 'versions_kept');
  return typeof value === 'number' ? value : null;
}

/** Removes the versions of these assets beyond the kept ones; links keep the version that they show. Returns how many. */
async function removeBeyond(tx: Tx, assetIds: readonly string[], kept: number): Promise<number> {
  const { rows } = await sql<{ file_hash: string }>`
    delete from asset_versions v using (
      select r.asset_id, r.number, row_number() over (partition by r.asset_id order by r.number desc) as place
      from asset_versions r where r.asset_id = any(${[...assetIds]}::uuid[])) ranked
    where v.asset_id = ranked.asset_id and v.number = ranked.number and ranked.place > ${kept + 1}::integer
      and not exists (select from share_links l
        where l.asset_id = v.asset_id and l.version = v.number and ${liveLink})
    returning v.file_hash`.execute(tx);
  await enqueueRelease(
    tx,
    rows.map(({ file_hash }) => file_hash),
  );
  return rows.length;
}

/** Removes the oldest versions of an asset, in the transaction that adds one. Returns how many. */
export async function trimVersions(tx: Tx, assetId: string): Promise<number> {
  const kept = await readKept(tx);
  return kept === null ? 0 : removeBeyond(tx, [assetId], kept);
}

/** Locks the next assets with more versions than are kept. */
async function nextAssets(tx: Tx, after: RawBuilder<boolean>, kept: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select a.id from assets a where a.id in (
      select v.asset_id from asset_versions v where ${after} group by v.asset_id having count(*) > ${kept + 1}
      order by v.asset_id limit ${BATCH})
    order by a.id for no key update`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Removes old versions of every asset, after the setting was lowered. Each step reads the setting again. */
export function trimVersionsJob({ db }: Pick<Deps, 'db'>): JobHandler<'trim-versions'> {
  return async (_, { log }) => {
    let removed = 0;
    let last: string | null = null;
    do {
      const after: RawBuilder<boolean> = last === null ? sql`true` : sql`v.asset_id > ${last}`;
      last = await db.transaction().execute(async (tx) => {
        const kept = await readKept(tx);
        if (kept === null) return null;
        const ids = await nextAssets(tx, after, kept);
        if (ids.length > 0) removed += await removeBeyond(tx, ids, kept);
        return ids.at(-1) ?? null;
      });
    } while (last !== null);
    if (removed > 0) log.info({ removed }, 'removed old versions');
  };
}

export const showSettings = handle(getVersionSettings, async ({ db }) => ({
  status: 200,
  body: { keep: await readKept(db) },
}));

export const changeSettings = handle(setVersionSettings, async ({ db }, { caller, body }) => {
  await db.transaction().execute(async (tx) => {
    await writeSetting(tx, 'versions_kept', body.keep);
    if (body.keep !== null) await enqueue(tx, 'trim-versions', {}, { key: 'trim-versions' });
    await recordEvent(tx, caller, { event: 'system.versions.changed', metadata: { keep: body.keep } });
  });
  return { status: 200, body };
});
