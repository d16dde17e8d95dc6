/** Returns the language of the page, which stays the same until it is loaded again. */
export const language = (): string => (typeof document === 'undefined' ? 'en' : document.documentElement.lang);
