import { restoreAssetVersion } from '@vitrine/contract/versions';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { keysOf } from '../../media/ladder.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { lockFile } from '../assets/insert.ts';
import { findKnownFile, isIntact, repairRenditions } from '../assets/repair.ts';
import { type VersionRow, versionsOfAsset } from '../assets/version-rows.ts';
import { checkReplaces, lockVersioned, replaceFile } from './replace.ts';
import { readVersion } from './show.ts';

/** Returns what a version has; null without one. */
async function findVersion(
  db: Database,
  id: string,
  number: number,
): Promise<Pick<VersionRow, 'file_hash' | 'file_name'> | null> {
  const { rows } = await sql<Pick<VersionRow, 'file_hash' | 'file_name'>>`
    select v.file_hash, v.file_name from assets a cross join ${versionsOfAsset}
    where a.id = ${id} and v.number = ${number}`.execute(db);
  return rows[0] ?? null;
}

/** `POST /assets/{id}/versions/{number}/restore`: a new version with the bytes of an earlier one. */
export const restore = handle(restoreAssetVersion, async ({ db, storage, ladder }, { caller, params }) => {
  const { id, number } = params;
  const wanted = await readVersion(db, caller, id, number);
  if (wanted === null) throw notFound();
  const made = await db.transaction().execute(async (tx) => {
    // A render job, too, locks the bytes first and the asset second.
    await lockFile(tx, wanted.file_hash);
    const asset = await lockVersioned(tx, caller, id);
    const version = await findVersion(tx, id, number);
    const file = await findKnownFile(tx, wanted.file_hash);
    // Deleted meanwhile.
    if (version === null || file === null) throw notFound();
    checkReplaces(asset, file);
    if (!(await isIntact(storage, file))) throw refuse('stored-file-damaged');
    await repairRenditions(tx, storage, file);
    const next = { hash: file.hash, mime: file.mime, fileName: version.file_name, note: '' };
    return replaceFile(tx, caller, asset, next, {
      ladderKeys: keysOf(ladder),
      happened: { event: 'asset.version.restored', metadata: { restored: number } },
    });
  });
  const version = await readVersion(db, caller, id, made);
  if (version === null) throw notFound();
  return { status: 200, body: version };
});
