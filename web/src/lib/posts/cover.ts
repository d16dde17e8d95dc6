import type { ShownAsset } from '@vitrine/contract/assets';
import type { Post, PostMember } from '@vitrine/contract/posts';

/** The member that stands for the post: its chosen cover, else the first (POST-23). */
export function coverOf(post: Post): PostMember | undefined {
  const chosen = post.members.find((member) => member.asset_id === post.cover_asset_id);
  return chosen ?? post.members[0];
}

/** The cover's asset when the caller may see it. */
export function coverAssetOf(post: Post): ShownAsset | undefined {
  const cover = coverOf(post);
  return cover === undefined || cover.restricted ? undefined : cover.asset;
}

export function titleOf(post: Post): string {
  return post.title.trim() === '' ? 'Untitled' : post.title;
}

/** What a screen reader says for a card: title, author and how many pictures. */
export function cardLabel(post: Post): string {
  const parts = [titleOf(post)];
  if (post.author !== undefined) parts.push(`by ${post.author.display_name}`);
  if (post.members.length > 1) parts.push(`${post.members.length} pictures`);
  return parts.join(', ');
}
