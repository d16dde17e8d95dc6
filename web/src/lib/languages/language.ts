import { directionOf, languageFor } from '@vitrine/contract/languages';

/** Returns the language of the page, which stays the same until it is loaded again. */
export const language = (): string =>
  typeof document === 'undefined' ? 'en' : document.documentElement.lang;

/** Returns the locale of numbers and dates: the browser's own, with its region, if it is of the page's language. */
export function locale(): string {
  if (typeof document === 'undefined') return 'en';
  return navigator.languages.find((tag) => languageFor(tag) === language()) ?? language();
}

/**
 * Isolates a date or a measure in languages from right to left, so that the text around it does not reorder it. Sizes in
 * pixels are written from left to right in every language.
 */
export function isolated(text: string, direction: 'auto' | 'ltr' = 'auto'): string {
  if (directionOf(languageFor(language()) ?? 'en') === 'ltr') return text;
  return `${direction === 'auto' ? '\u2068' : '\u2066'}${text}\u2069`;
}
