import { getAsset } from '@vitrine/contract/assets';
import { handle } from '../../core/handle.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { showAsset } from './show.ts';

/** `GET /assets/{id}`: 404 outside the read rule, the placeholder outside the field rule (ASSET-1, ASSET-5). */
export const get = handle(getAsset, async ({ db, ladder }, { caller, params }) => {
  const asset = await showAsset(db, caller, ladder, params.id);
  if (asset === null) throw notFound();
  return { status: 200, body: asset };
});
