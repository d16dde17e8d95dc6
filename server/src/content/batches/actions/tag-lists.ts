import { mostTags } from '@vitrine/contract/values';

/** Why an object that would get more tags is refused. */
export const tooManyTags = `it would have more than ${mostTags} tags`;

/** Whether two lists without duplicates have the same elements. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === a.length;
}
