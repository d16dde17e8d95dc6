import type { Tag, TagChange } from '@vitrine/contract/tags';
import { locale } from '#lib/languages/language.ts';
import { listOf } from '#lib/languages/list.ts';
import { phrase } from '#lib/languages/phrase.ts';
import { plural } from '#lib/languages/plural.ts';

type Counted = 'posts' | 'assets' | 'follows' | 'rails' | 'views' | 'searches' | 'collections';

const counts: Readonly<Record<Counted, (count: number) => string>> = {
  posts: (count) => plural(count, ['# post', '# posts']),
  assets: (count) => plural(count, ['# asset', '# assets']),
  follows: (count) => plural(count, ['# follower', '# followers']),
  rails: (count) => plural(count, ['# arrangement of chips', '# arrangements of chips']),
  views: (count) => plural(count, ['# saved view', '# saved views']),
  searches: (count) => plural(count, ['# saved search', '# saved searches']),
  collections: (count) => plural(count, ['# smart collection', '# smart collections']),
};
const kinds: readonly Counted[] = ['posts', 'assets', 'follows', 'rails', 'views', 'searches', 'collections'];

/** Describes what a rename or merge changes. */
export function changeInWords(change: TagChange): string {
  const parts = kinds.flatMap((kind) => (change[kind] === 0 ? [] : [counts[kind](change[kind])]));
  return parts.length === 0 ? phrase('nothing') : listOf(parts);
}

/** Describes how many posts have a tag; the service counts up to a thousand. */
export function postsInWords({ post_count, post_count_capped }: Tag): string {
  if (post_count === 0) return 'On assets only';
  return post_count_capped && post_count > 1
    ? `More than ${post_count.toLocaleString(locale())} posts`
    : plural(post_count, ['# post', '# posts']);
}
