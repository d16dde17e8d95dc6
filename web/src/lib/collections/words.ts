/** What a collection says wherever it is told that others see less of it. */
export const eachSeesTheirs = 'Everybody sees only those of its posts that they may see anyway.';

/** How many posts there are; counting stops at `most`. */
export function postsInWords(count: number, most: number): string {
  const shown = new Intl.NumberFormat('en').format(count);
  if (count >= most) return `${shown}+ posts`;
  return count === 1 ? '1 post' : `${shown} posts`;
}
