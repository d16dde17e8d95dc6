import { reprocessAsset } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { editableAssets } from '../access/assets.ts';
import { handle } from '../platform/http/bind.ts';
import { notFound } from '../platform/http/refuse.ts';
import { enqueue } from '../platform/jobs/enqueue.ts';
import { showAsset } from './show.ts';

/** Renders a failed asset again; one that is not failed is answered as it stands (choices, assets). */
export const reprocess = handle(reprocessAsset, async ({ db, ladder }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ file_hash: string; processing_status: string }>`
      select a.file_hash, a.processing_status from assets a
      where a.id = ${params.id} and ${editableAssets(caller)} for update`.execute(tx);
    const row = rows[0];
    if (row === undefined) throw notFound();
    if (row.processing_status !== 'failed') return;
    await tx
      .updateTable('assets')
      .set({ processing_status: 'pending', processing_error: null })
      .where('id', '=', params.id)
      .execute();
    await enqueue(tx, 'render', { hash: row.file_hash }, { key: `render:${row.file_hash}` });
  });
  const asset = await showAsset(db, caller, ladder, params.id);
  if (asset === null || asset.restricted) throw notFound();
  return { status: 200, body: asset };
});
