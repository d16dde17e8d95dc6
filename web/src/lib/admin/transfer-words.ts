import type { MergeCounts, TransferCounts } from '@vitrine/contract/account-transfers';

/** Singular and plural of what a transfer or merge counts, in the order in which it is told. */
const words: Readonly<Record<keyof MergeCounts, readonly [one: string, many: string]>> = {
  assets: ['file', 'files'],
  posts: ['post', 'posts'],
  collections: ['collection', 'collections'],
  comments: ['comment', 'comments'],
  whiteboards: ['whiteboard', 'whiteboards'],
  teams: ['team', 'teams'],
  grants: ['capability', 'capabilities'],
  revokes: ['revoked capability', 'revoked capabilities'],
  shares: ['share', 'shares'],
  identities: ['linked identity', 'linked identities'],
  likes: ['like', 'likes'],
  follows: ['follow', 'follows'],
  searches: ['saved search', 'saved searches'],
  kept_assets: ['file stays', 'files stay'],
  kept_posts: ['post stays', 'posts stay'],
  ended_links: ['share link ends', 'share links end'],
  ended_tokens: ['access token ends', 'access tokens end'],
  ended_sessions: ['session ends', 'sessions end'],
};

/** Returns what moves, stays and ends, such as “2 files, 1 post, 1 share link ends”. */
export function countsInWords(counts: TransferCounts | MergeCounts): string {
  const given = new Map(Object.entries(counts));
  const parts = Object.entries(words).flatMap(([name, [one, many]]) => {
    const count = given.get(name) ?? 0;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  return parts.length === 0 ? 'nothing to move' : parts.join(', ');
}
