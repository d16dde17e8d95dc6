import { type Language, languages } from '@vitrine/contract/languages';
import { type Texts, wordKeys } from '@vitrine/contract/texts';
import { type Translations, written } from '#lib/translations/written.ts';

type WordKey = (typeof wordKeys)[number];
type Stored = NonNullable<Texts['translations']>;

/** Returns whether a text is words, which are translated, and not an address. */
export const isWordKey = (key: string): key is WordKey => wordKeys.some((word) => word === key);

/** Returns the stored translations by text. */
export function byText(stored: Stored = {}): Record<WordKey, Translations> {
  const of = (key: WordKey): Translations =>
    Object.fromEntries(
      languages.flatMap((tag) => {
        const text = stored[tag]?.[key];
        return text === undefined ? [] : [[tag, text]];
      }),
    );
  // `fromEntries` does not keep the type of the keys, all of which are there.
  return Object.fromEntries(wordKeys.map((key) => [key, of(key)])) as Record<WordKey, Translations>;
}

/** Returns translations by text as they are stored: by language, without empty ones. */
export function byLanguage(translations: Record<WordKey, Translations>): Stored {
  const of = (tag: Language) =>
    Object.fromEntries(
      wordKeys.flatMap((key) => {
        const text = written(translations[key])[tag];
        return text === undefined ? [] : [[key, text]];
      }),
    );
  const all = languages.map((tag) => [tag, of(tag)] as const);
  return Object.fromEntries(all.filter(([, texts]) => Object.keys(texts).length > 0));
}
