import type { ShownAsset } from '@vitrine/contract/assets';
import type { SessionUser } from '@vitrine/contract/identity';

/** Whether a picture stands as a blur because it is rated mature: it is there, and its bytes are not served. */
export function isVeiled(asset: ShownAsset): boolean {
  const served = asset.preview_available || asset.ladder_available;
  return asset.mature && asset.processing_status === 'ready' && !served && asset.thumbhash !== null;
}

/** Why a veiled picture is, and whether the reader can change that in their preferences. */
export function whyVeiled(user: SessionUser | null): { readonly text: string; readonly choosable: boolean } {
  if (user === null) {
    return {
      text: 'It is marked as mature, and visitors without an account are not shown that.',
      choosable: false,
    };
  }
  if (!user.mature_content_allowed) {
    return {
      text: 'It is marked as mature, and this library does not show mature content.',
      choosable: false,
    };
  }
  return { text: 'It is marked as mature, and you have not chosen to see mature content.', choosable: true };
}
