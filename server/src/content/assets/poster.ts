import { setAssetPoster } from '@vitrine/contract/assets';
import type { MediaFacts } from '@vitrine/contract/media';
import { sql } from 'kysely';
import { mayRerender } from '../../access/assets.ts';
import { handle } from '../../core/handle.ts';
import { recordEdit } from '../../people/audit/record-edit.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { enqueueRender } from './decoding-jobs.ts';
import { lockEditable } from './edit.ts';
import { lockFile } from './insert.ts';
import { showAsset } from './show.ts';

interface VideoRow {
  hash: string;
  mime: string;
  media: MediaFacts;
  decides: boolean;
}

/**
 * Chooses the frame for the poster and the preview ladder of a video, and renders them again. Renditions belong to the
 * bytes, so the choice applies to every asset with the same file, and only editors of the oldest one may make it.
 */
export const poster = handle(setAssetPoster, async ({ db, ladder }, { caller, params, body }) => {
  const { hash, mime } = await db.transaction().execute(async (tx) => {
    const { id, owner } = await lockEditable(tx, caller, params.id);
    const { rows } = await sql<VideoRow>`
      select f.hash, f.mime, f.media,
        exists (select from assets a where a.file_hash = f.hash and ${mayRerender(caller)}) as decides
      from files f join assets asset on asset.file_hash = f.hash where asset.id = ${id}`.execute(tx);
    const row = rows[0];
    if (row === undefined) throw notFound();
    if (row.media.has_video !== true) throw refuse('poster-without-video');
    const duration = row.media.duration_seconds ?? 0;
    if (body.seconds > duration) throw refuse('poster-past-end', { max: duration });
    if (!row.decides) throw refuse('poster-not-yours');
    const change = { poster: body.seconds };
    await recordEdit(tx, caller, { kind: 'asset', id, owner }, change);
    return row;
  });
  // Not together with the asset's row: a render job locks the hash first and the assets second.
  await db.transaction().execute(async (tx) => {
    await lockFile(tx, hash);
    await tx.updateTable('files').set({ poster_seconds: body.seconds }).where('hash', '=', hash).execute();
    await enqueueRender(tx, { hash, mime, ownerRef: caller.ref, again: true });
  });
  const asset = await showAsset(db, caller, ladder, params.id);
  if (asset === null || asset.restricted) throw notFound();
  return { status: 202, body: asset };
});
