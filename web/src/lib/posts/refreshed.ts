import type { ShownAsset } from '@vitrine/contract/assets';
import type { Post } from '@vitrine/contract/posts';
import { coverAssetOf } from './cover.ts';

/** Returns the ids of covers that are still being processed, at most `limit`. */
export function pendingCovers(posts: readonly Post[], limit: number): string[] {
  const ids = new Set<string>();
  for (const post of posts) {
    const asset = coverAssetOf(post);
    if (asset?.processing_status === 'pending') ids.add(asset.id);
    if (ids.size >= limit) break;
  }
  return [...ids];
}

/** Returns the post with newer states of its assets, or the same object if nothing changed. */
export function withFreshAssets(post: Post, fresh: ReadonlyMap<string, ShownAsset>): Post {
  if (!post.members.some((member) => fresh.has(member.asset_id))) return post;
  return {
    ...post,
    members: post.members.map((member) => {
      const asset = fresh.get(member.asset_id);
      return member.restricted || asset === undefined ? member : { ...member, asset };
    }),
  };
}
