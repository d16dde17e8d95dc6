import type { Tag } from '@vitrine/contract/tags';

/** How many posts have a tag, in words; the service counts to a thousand. */
export function postsInWords({ post_count, post_count_capped }: Tag): string {
  if (post_count === 0) return 'On assets only';
  if (post_count === 1) return '1 post';
  return `${post_count_capped ? 'More than ' : ''}${post_count.toLocaleString('en')} posts`;
}
