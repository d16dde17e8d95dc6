/** The languages of the pages, as preferences name them. Any other language shows English. */
export const languages = [
  'en',
  'de',
  'fr',
  'es',
  'pt-BR',
  'it',
  'nl',
  'pl',
  'ja',
  'ko',
  'zh-Hans',
  'ar',
  'he',
] as const;
export type Language = (typeof languages)[number];

/** Cookie with the language of a signed-in person, which pages set from the preferences (LANGUAGE-1). */
export const languageCookie = 'language';

/** Returns the name of the built page in a language. */
export const pageFileOf = (language: Language): string =>
  language === 'en' ? 'index.html' : `index.${language}.html`;

/** Returns the name of the built sign-in page in a language. */
export const signInFileOf = (language: Language): string =>
  language === 'en' ? 'sign-in.html' : `sign-in.${language}.html`;

/** Returns the name of the file beside a page with the files that kinds of pages load first. */
export const preloadsFileOf = (language: Language): string => pageFileOf(language).replace(/html$/, 'json');

const known: ReadonlySet<string> = new Set(languages);

/** Returns the language of the pages for a BCP 47 tag: that of the tag itself, else of its language or script; else undefined. */
export function languageFor(tag: string): Language | undefined {
  const candidates = [tag, ...variantsOf(tag)];
  // A name of the list, so it is one of its members.
  return candidates.find((candidate) => known.has(candidate)) as Language | undefined;
}

function variantsOf(tag: string): string[] {
  try {
    const { language, script, region } = new Intl.Locale(tag).maximize();
    const brazilian = language === 'pt' ? ['pt-BR'] : [];
    return [`${language}-${region}`, `${language}-${script}`, language, ...brazilian];
  } catch {
    return [];
  }
}

/** Returns the direction in which the language is written. */
export const directionOf = (language: Language): 'ltr' | 'rtl' =>
  language === 'ar' || language === 'he' ? 'rtl' : 'ltr';
