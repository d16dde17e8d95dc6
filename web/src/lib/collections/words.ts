/** The note shown wherever others may see fewer posts of a collection. */
export const partialPostsNote = 'People see only those of its posts that they may see anyway.';

/** Describes the number of posts; counting stops at `most`. */
export function postsInWords(count: number, most: number): string {
  const shown = new Intl.NumberFormat('en').format(count);
  if (count >= most) return `${shown}+ posts`;
  return count === 1 ? '1 post' : `${shown} posts`;
}
