import { type Language, languageFor } from '@vitrine/contract/languages';

/** Returns the language of stored preferences; null if none is chosen, English for one without texts (LANGUAGE-1). */
export function preferredLanguage(preferences: unknown): Language | null {
  const tag: unknown =
    typeof preferences === 'object' && preferences !== null ? Reflect.get(preferences, 'language') : null;
  return typeof tag !== 'string' || tag === '' ? null : (languageFor(tag) ?? 'en');
}
