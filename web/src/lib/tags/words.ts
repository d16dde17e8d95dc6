import type { Tag, TagChange } from '@vitrine/contract/tags';
import { locale } from '#lib/languages/language.ts';

const kinds = [
  ['posts', 'post', 'posts'],
  ['assets', 'asset', 'assets'],
  ['follows', 'follower', 'followers'],
  ['rails', 'arrangement of chips', 'arrangements of chips'],
  ['views', 'saved view', 'saved views'],
  ['searches', 'saved search', 'saved searches'],
] as const;

/** Describes what a rename or merge changes. */
export function changeInWords(change: TagChange): string {
  const parts = kinds.flatMap(([key, singular, plural]) => {
    const n = change[key];
    return n === 0 ? [] : [`${n.toLocaleString(locale())} ${n === 1 ? singular : plural}`];
  });
  if (parts.length === 0) return 'nothing';
  return parts.length === 1 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** Describes how many posts have a tag; the service counts up to a thousand. */
export function postsInWords({ post_count, post_count_capped }: Tag): string {
  if (post_count === 0) return 'On assets only';
  if (post_count === 1) return '1 post';
  return `${post_count_capped ? 'More than ' : ''}${post_count.toLocaleString(locale())} posts`;
}
