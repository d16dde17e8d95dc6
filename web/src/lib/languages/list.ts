import { language, locale } from './language.ts';

/** Joins words as in "a, b and c" or "a, b or c". English has no comma before the last. */
export function listOf(
  words: readonly string[],
  type: 'conjunction' | 'disjunction' = 'conjunction',
): string {
  const tag = language() === 'en' ? 'en-GB' : locale();
  return new Intl.ListFormat(tag, { type }).format(words);
}
