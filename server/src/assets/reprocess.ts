import { reprocessAsset } from '@vitrine/contract/assets';
import { handle } from '../platform/http/bind.ts';
import { notFound } from '../platform/http/refuse.ts';
import { enqueue } from '../platform/jobs/enqueue.ts';
import { lockEditable } from './edit.ts';
import { showAsset } from './show.ts';

/** Renders a failed asset again, for whoever may change it; one that is not failed is answered as it stands. */
export const reprocess = handle(reprocessAsset, async ({ db, ladder }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const { id } = await lockEditable(tx, caller, params.id);
    const row = await tx
      .selectFrom('assets')
      .select(['file_hash', 'processing_status'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    if (row.processing_status !== 'failed') return;
    await tx
      .updateTable('assets')
      .set({ processing_status: 'pending', processing_error: null })
      .where('id', '=', id)
      .execute();
    await enqueue(tx, 'render', { hash: row.file_hash }, { key: `render:${row.file_hash}` });
  });
  const asset = await showAsset(db, caller, ladder, params.id);
  if (asset === null || asset.restricted) throw notFound();
  return { status: 200, body: asset };
});
