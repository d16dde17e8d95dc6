import { directionOf, type Language } from '@vitrine/contract/languages';
import { translationOf } from './catalogue.ts';

export type Values = Readonly<Record<string, string | number>>;

/** The names of the values of a text, such as `title` in `{who} approved “{title}”`. */
export type Names<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;
/** The values that a text needs, as the last arguments of a function. */
export type Given<Name extends string> = [Name] extends [never]
  ? []
  : [Readonly<Record<Name, string | number>>];

/** Returns the text with its values. In right-to-left languages, each value is isolated and keeps its own direction. */
function fill(language: Language, text: string, values: Values): string {
  const isolate = (value: string) => (directionOf(language) === 'rtl' ? `\u2068${value}\u2069` : value);
  const number = (value: number) => new Intl.NumberFormat(language).format(value);
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    const value = values[name];
    if (value === undefined) return place;
    return isolate(typeof value === 'number' ? number(value) : value);
  });
}

// The cast: `Given` checks the values of each call, but TypeScript cannot derive that from a generic rest parameter.
const valuesOf = (given: readonly unknown[]) => (given[0] ?? {}) as Values;

/** Returns a text in a language. The English text is a literal, and the key of its translations (LANGUAGE-4). */
export function say<const Text extends string>(
  language: Language,
  text: Text,
  ...given: Given<Names<Text>>
): string {
  const translated = translationOf(language, text);
  return fill(language, typeof translated === 'string' ? translated : text, valuesOf(given));
}

/** Returns the form of a text for a count, with the count in place of each `#`. */
export function sayCount<const One extends string, const Other extends string>(
  language: Language,
  count: number,
  [one, other]: readonly [one: One, other: Other],
  ...given: Given<Names<One | Other>>
): string {
  const forms = translationOf(language, `${one}\n${other}`) ?? { one, other };
  const form =
    typeof forms === 'string' ? forms : (forms[new Intl.PluralRules(language).select(count)] ?? forms.other);
  const shown = (form ?? other).replaceAll('#', new Intl.NumberFormat(language).format(count));
  return fill(language, shown, valuesOf(given));
}
