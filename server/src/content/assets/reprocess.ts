import { reprocessAsset } from '@vitrine/contract/assets';
import { handle } from '../../core/handle.ts';
import { keysOf } from '../../media/ladder.ts';
import { isRenderable } from '../../media/renderable.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { enqueueRender } from './decoding-jobs.ts';
import { lockEditable } from './edit.ts';
import { hasRenditions, lockFile } from './insert.ts';
import { findKnownFile, repairRenditions, retryTranscode } from './repair.ts';
import { showAsset } from './show.ts';

/**
 * Renders a failed asset again, for callers who may change it. For any other asset, only missing or damaged renditions
 * are made again, including those that take long.
 */
export const reprocess = handle(reprocessAsset, async ({ db, storage, ladder }, { caller, params }) => {
  const intact = await db.transaction().execute(async (tx) => {
    const { id } = await lockEditable(tx, caller, params.id);
    const row = await tx
      .selectFrom('assets as a')
      .innerJoin('files as f', 'f.hash', 'a.file_hash')
      .select(['a.owner_user_ref', 'f.hash', 'f.mime', 'a.processing_status'])
      .where('a.id', '=', id)
      .executeTakeFirstOrThrow();
    if (row.processing_status !== 'failed') return row.hash;
    await tx
      .updateTable('assets')
      .set({ processing_status: 'pending', processing_error: null })
      .where('id', '=', id)
      .execute();
    await enqueueRender(tx, { hash: row.hash, mime: row.mime, ownerRef: row.owner_user_ref ?? caller.ref });
    return null;
  });
  // Not together with the asset's row: a render job locks the hash first and the assets second.
  if (intact !== null) {
    await db.transaction().execute(async (tx) => {
      await lockFile(tx, intact);
      const file = await findKnownFile(tx, intact);
      if (file === null) return;
      const repaired = await repairRenditions(tx, storage, file);
      const isWhole = !isRenderable(file.mime) || (await hasRenditions(tx, intact, keysOf(ladder)));
      // Includes files that were stored before their type could be rendered.
      if (repaired.length === 0 && !isWhole) await enqueueRender(tx, { ...file, ownerRef: caller.ref });
      await retryTranscode(tx, intact);
    });
  }
  const asset = await showAsset(db, caller, ladder, params.id);
  if (asset === null || asset.restricted) throw notFound();
  return { status: 200, body: asset };
});
