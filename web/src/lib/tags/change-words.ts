import type { TagChange } from '@vitrine/contract/tags';

const kinds = [
  ['posts', 'post', 'posts'],
  ['assets', 'asset', 'assets'],
  ['follows', 'follower', 'followers'],
  ['rails', 'arrangement of chips', 'arrangements of chips'],
  ['views', 'saved view', 'saved views'],
  ['searches', 'saved search', 'saved searches'],
] as const;

/** What a rename or merge writes, in words. */
export function changeInWords(change: TagChange): string {
  const parts = kinds.flatMap(([key, one, many]) => {
    const n = change[key];
    return n === 0 ? [] : [`${n.toLocaleString('en')} ${n === 1 ? one : many}`];
  });
  if (parts.length === 0) return 'nothing';
  return parts.length === 1 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
