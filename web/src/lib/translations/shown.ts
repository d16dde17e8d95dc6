import type { Language } from '@vitrine/contract/languages';
import { language } from '#lib/languages/language.ts';

/** Returns a text in the language of the page, if the operator has translated it (LANGUAGE-5). */
export function inPageLanguage<Text>(
  text: Text,
  translations: Partial<Record<Language, Text>> | undefined,
): Text {
  // The page is in one of these languages.
  return translations?.[language() as Language] ?? text;
}
