import { sentence } from '../../../platform/language/sentence.ts';

/** Why an object that would get more tags is refused. */
export const tooManyTags = sentence('it would have too many tags');

/** Whether two lists without duplicates have the same elements. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === a.length;
}
