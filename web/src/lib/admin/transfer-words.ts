import type { MergeCounts, TransferCounts } from '@vitrine/contract/account-transfers';
import { phrase } from '#lib/languages/phrase.ts';
import { plural } from '#lib/languages/plural.ts';
import { series } from '#lib/texts/series.ts';

/** Formats what a transfer or merge counts, in the order in which it is told. */
const words: Readonly<Record<keyof MergeCounts, (count: number) => string>> = {
  assets: (count) => plural(count, ['# file', '# files']),
  posts: (count) => plural(count, ['# post', '# posts']),
  collections: (count) => plural(count, ['# collection', '# collections']),
  comments: (count) => plural(count, ['# comment', '# comments']),
  whiteboards: (count) => plural(count, ['# whiteboard', '# whiteboards']),
  teams: (count) => plural(count, ['# team', '# teams']),
  grants: (count) => plural(count, ['# capability', '# capabilities']),
  revokes: (count) => plural(count, ['# revoked capability', '# revoked capabilities']),
  shares: (count) => plural(count, ['# share', '# shares']),
  identities: (count) => plural(count, ['# linked identity', '# linked identities']),
  likes: (count) => plural(count, ['# like', '# likes']),
  follows: (count) => plural(count, ['# follow', '# follows']),
  searches: (count) => plural(count, ['# saved search', '# saved searches']),
  kept_assets: (count) => plural(count, ['# file stays', '# files stay']),
  kept_posts: (count) => plural(count, ['# post stays', '# posts stay']),
  ended_links: (count) => plural(count, ['# share link ends', '# share links end']),
  ended_tokens: (count) => plural(count, ['# access token ends', '# access tokens end']),
  ended_sessions: (count) => plural(count, ['# session ends', '# sessions end']),
};

/** Returns what moves, stays and ends, such as “2 files, 1 post, 1 share link ends”. */
export function countsInWords(counts: TransferCounts | MergeCounts): string {
  const given = new Map(Object.entries(counts));
  const parts = Object.entries(words).flatMap(([name, inWords]) => {
    const count = given.get(name) ?? 0;
    return count === 0 ? [] : [inWords(count)];
  });
  return parts.length === 0 ? phrase('nothing to move') : series(parts);
}
