import { compileTranslation } from 'wuchale/compiler';
import type { Catalogue } from './catalogues.ts';
import { markOf, marks } from './marks.ts';

type Compiled = string | readonly unknown[] | Readonly<Record<string, string>>;

/** Returns the translations by their marks. Texts without one stay in English. */
export function translationsOf(english: Catalogue, catalogue: Catalogue): ReadonlyMap<string, Compiled> {
  return new Map(
    Object.entries(english).map(([key, original]) => {
      const text = catalogue[key] ?? original;
      return [markOf(key), typeof text === 'string' ? compileTranslation(text, text) : text];
    }),
  );
}

/** Escapes a text for a string literal with any quotes, and for the markup within it. */
const escaped = (text: string) => text.replace(/[\\'"`$]/g, '\\$&').replaceAll('\n', '\\n');

/** Returns a built script with the texts of a language in place of the marks. */
export function localise(script: string, translations: ReadonlyMap<string, Compiled>): string {
  return script.replace(marks, (_, before = '', mark: string, after = '') => {
    const text = translations.get(mark);
    if (text === undefined) throw new Error(`no text for ${mark}`);
    if (typeof text === 'string') return `${before}${escaped(text)}${after}`;
    // Texts with parts are arguments of `fill`, so the mark is a whole literal.
    return JSON.stringify(text);
  });
}
