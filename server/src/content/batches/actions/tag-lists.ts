/** POST-16, ASSET-19: the most tags of a post or an asset. */
export const mostTags = 50;

/** Why an object that would get more tags is refused. */
export const tooManyTags = `it would have more than ${mostTags} tags`;

/** Whether two lists without duplicates have the same elements. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === a.length;
}
