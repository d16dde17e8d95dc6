import { languageCookie, languageFor } from '@vitrine/contract/languages';

const cookie = new RegExp(`(?:^|; )${languageCookie}=([^;]*)`);
const stored = () => cookie.exec(document.cookie)?.[1] ?? '';

/**
 * Shows the pages in the language of a person's preferences, in that of the browser if they have none. Loads the page
 * again if it has another language. A visitor (null) keeps the page, and what the last person chose is forgotten.
 */
export function followLanguage(preferred: string | null): void {
  const wanted = preferred === null || preferred === '' ? '' : (languageFor(preferred) ?? 'en');
  if (stored() !== wanted) {
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs HTTPS.
    document.cookie = `${languageCookie}=${wanted}; path=/; samesite=lax; max-age=${wanted === '' ? 0 : 31_536_000}`;
  }
  if (preferred === null) return;
  const ofBrowser = navigator.languages.map(languageFor).find((language) => language !== undefined) ?? 'en';
  const shown = wanted === '' ? ofBrowser : wanted;
  // A browser without cookies stays in its own language.
  if (shown !== document.documentElement.lang && stored() === wanted) location.reload();
}
