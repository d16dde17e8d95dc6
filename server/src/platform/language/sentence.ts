import type { Language } from '@vitrine/contract/languages';
import { type Given, type Names, say, type Values } from './say.ts';

/** A text with its values, to be said where the language of the reader is known. */
export interface Sentence {
  readonly text: string;
  readonly values: Values;
}

/** Returns a text of the catalogues with its values. The English text is a literal, as for `say`. */
export function sentence<const Text extends string>(text: Text, ...given: Given<Names<Text>>): Sentence {
  // The cast: `Given` has checked the values, but TypeScript cannot derive that from a generic rest parameter.
  return { text, values: (given[0] ?? {}) as Values };
}

/** Returns a sentence in a language. */
export const saySentence = (language: Language, { text, values }: Sentence): string =>
  // The type of a text that is not a literal asks for no values, which the sentence has.
  (say as (language: Language, text: string, values: Values) => string)(language, text, values);

/** An error that people read in their language. Its `message` is in English, for logs and scripts. */
export class ToldError extends Error {
  readonly sentence: Sentence | null;

  constructor(told?: string | Sentence, options?: ErrorOptions) {
    super(typeof told === 'object' ? saySentence('en', told) : told, options);
    this.sentence = typeof told === 'object' ? told : null;
  }
}

/** Returns what an error says in a language; its own message if it is not translated. */
export const sayError = (language: Language, error: Error): string =>
  error instanceof ToldError && error.sentence !== null
    ? saySentence(language, error.sentence)
    : error.message;

/** Joins parts that do not depend on each other: `2 files, 1 folder`. */
export const listed = (language: Language, parts: readonly string[]): string =>
  new Intl.ListFormat(language, { type: 'unit', style: 'short' }).format(parts);
