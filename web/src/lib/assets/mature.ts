import type { ShownAsset } from '@vitrine/contract/assets';
import type { SessionUser } from '@vitrine/contract/identity';

/** Returns whether a picture is shown as a blur because it is rated as mature and its bytes are not served. */
export function isVeiled(asset: ShownAsset): boolean {
  const served = asset.preview_available || asset.ladder_available;
  return asset.mature && asset.processing_status === 'ready' && !served && asset.thumbhash !== null;
}

/** Explains why a picture is blurred, and whether the reader's preferences can change that. */
export function explainBlur(user: SessionUser | null): {
  readonly text: string;
  readonly choosable: boolean;
} {
  if (user === null) {
    return {
      text: 'It is marked as mature, which visitors without an account cannot see.',
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
