import { phrase } from '#lib/languages/phrase.ts';

/**
 * Joins facts, as in "JPEG, 41.9 kB", with the comma of the language of the page. Use `listOf` for a list within a sentence,
 * which has "and" before the last item.
 */
export function series(facts: readonly string[]): string {
  const [first = '', ...rest] = facts;
  return rest.reduce((before, next) => phrase(`${before}, ${next}`), first);
}

/** Ends a label that an explanation follows, with the full stop of the language of the page. */
export const stopped = (label: string): string => phrase(`${label}.`);
