import { languageFor } from '@vitrine/contract/languages';

/** Returns the language of the page, which stays the same until it is loaded again. */
export const language = (): string =>
  typeof document === 'undefined' ? 'en' : document.documentElement.lang;

/** Returns the locale of numbers and dates: the browser's own, with its region, if it is of the page's language. */
export function locale(): string {
  if (typeof document === 'undefined') return 'en';
  return navigator.languages.find((tag) => languageFor(tag) === language()) ?? language();
}
