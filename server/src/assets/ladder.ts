import { getPreviews, listAssetTypes } from '@vitrine/contract/assets';
import { handle } from '../handle.ts';

/** Returns the configured preview ladder (MEDIA-2). */
export const showPreviews = handle(getPreviews, async ({ ladder }) => ({
  status: 200,
  body: { variants: ladder.map(({ key, fit, maxDim, format }) => ({ key, fit, max_dim: maxDim, format })) },
}));

/** Returns the asset types (ASSET-25). */
export const showAssetTypes = handle(listAssetTypes, async ({ db }) => ({
  status: 200,
  body: await db.selectFrom('asset_types').select(['ref', 'code', 'label']).orderBy('ref').execute(),
}));
