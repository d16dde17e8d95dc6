import type { Language } from '@vitrine/contract/languages';

export type Translations = Partial<Record<Language, string>>;

/** Returns the translations that are not empty, as the service stores them. */
export function written(texts: Translations): Translations {
  const said = Object.entries(texts).flatMap(([tag, text]) => {
    const trimmed = text.trim();
    return trimmed === '' ? [] : [[tag, trimmed]];
  });
  return Object.fromEntries(said);
}

/** Returns whether two sets of translations are stored as the same. */
export function isSame(one: Translations, other: Translations): boolean {
  const textOf = (texts: Translations) => JSON.stringify(Object.entries(written(texts)).sort());
  return textOf(one) === textOf(other);
}
