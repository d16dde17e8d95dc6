import type { ShownAsset } from '@vitrine/contract/assets';
import type { Post } from '@vitrine/contract/posts';
import { coverAssetOf } from '#lib/posts/cover.ts';
import { cropOf, type Focal } from '#lib/posts/edit/crop.ts';

/** Returns the picture of a post that the caller may see: its cover, otherwise the first visible one. */
export function firstShownOf(post: Post): ShownAsset | undefined {
  const cover = coverAssetOf(post);
  if (cover !== undefined) return cover;
  for (const member of post.members) if (!member.restricted) return member.asset;
  return undefined;
}

/**
 * Returns the position of a picture in a box that it fills (CSS `object-position`), so that the focal point is as
 * close to the centre as possible. Both ratios are width : height.
 */
export function objectPositionOf(picture: number, box: number, focal: Focal | null): string {
  const crop = cropOf(picture / box, focal);
  const along = (start: number, size: number) =>
    size >= 1 ? 50 : Math.round((start / (1 - size)) * 1000) / 10;
  return `${along(crop.left, crop.width)}% ${along(crop.top, crop.height)}%`;
}
