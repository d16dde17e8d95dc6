import type { Language } from '@vitrine/contract/languages';
import { type Names, say, sayCount, type Values } from './say.ts';

/** A value of a sentence: text that is the same in every language, a number, another sentence, or a list. */
export type SentenceValue = string | number | Sentence | readonly (string | Sentence)[];

/** A text with its values, to be said where the language of the reader is known. It can be stored as JSON. */
export interface Sentence {
  /** The English text, which is the key of the catalogues. One with a count has its two forms, each on a line. */
  readonly text: string;
  readonly values: Readonly<Record<string, SentenceValue>>;
  /** Chooses the form, and is in place of each `#`. */
  readonly count?: number;
}

type GivenValues<Name extends string> = [Name] extends [never] ? [] : [Readonly<Record<Name, SentenceValue>>];

// The casts: `GivenValues` has checked the values, but TypeScript cannot derive that from a generic rest parameter.
const sentenceValues = (given: readonly unknown[]) => (given[0] ?? {}) as Sentence['values'];

/** Returns a text of the catalogues with its values. The English text is a literal, as for `say`. */
export function sentence<const Text extends string>(
  text: Text,
  ...given: GivenValues<Names<Text>>
): Sentence {
  return { text, values: sentenceValues(given) };
}

/** Returns a text that depends on a count, as for `sayCount`. */
export function sentenceCount<const One extends string, const Other extends string>(
  count: number,
  [one, other]: readonly [one: One, other: Other],
  ...given: GivenValues<Names<One | Other>>
): Sentence {
  return { text: `${one}\n${other}`, values: sentenceValues(given), count };
}

/** Returns a text that is the same in every language, such as a path or a command. */
export const verbatim = (text: string): Sentence => ({ text: '{text}', values: { text } });

/** Returns a line that is indented below another. */
export const indented = (line: Sentence): Sentence => ({ text: '  {line}', values: { line } });

function sayValue(language: Language, value: SentenceValue): string | number {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if ('text' in value) return saySentence(language, value);
  return listed(
    language,
    value.map((part) => String(sayValue(language, part))),
  );
}

/** Returns a sentence in a language. */
export function saySentence(language: Language, { text, values, count }: Sentence): string {
  const said: Values = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, sayValue(language, value)]),
  );
  const [one = '', other = one] = text.split('\n');
  // The casts: the type of a text that is not a literal asks for no values, which the sentence has.
  return count === undefined
    ? (say as (language: Language, text: string, values: Values) => string)(language, text, said)
    : (
        sayCount as (
          language: Language,
          count: number,
          forms: readonly [string, string],
          values: Values,
        ) => string
      )(language, count, [one, other], said);
}

/** The beginning of a stored sentence with values. No text of the service begins like this. */
const WITH_VALUES = '{"text":';

/** Returns a sentence as text to store: the English text alone if it has no values, otherwise JSON. */
export const storedForm = ({ text, values, count }: Sentence): string =>
  count === undefined && !/\{\w+\}/.test(text) ? text : JSON.stringify({ text, values, count });

/** Returns the sentence of a stored form. What an earlier version has stored is an English text, without values. */
function storedSentence(stored: string): Sentence {
  if (!stored.startsWith(WITH_VALUES)) return { text: stored, values: {} };
  // The cast: `storedForm` wrote it.
  return JSON.parse(stored) as Sentence;
}

/** Returns what `storedForm` has made, in a language; a text that the catalogues lack stays English. */
export const sayStored = (language: Language, stored: string): string =>
  saySentence(language, storedSentence(stored));

/** An error that people read in their language. Its `message` is in English, for logs and scripts. */
export class WordedError extends Error {
  readonly sentence: Sentence | null;

  constructor(said?: string | Sentence, options?: ErrorOptions) {
    super(typeof said === 'object' ? saySentence('en', said) : said, options);
    this.sentence = typeof said === 'object' ? said : null;
  }
}

/** An error that always has a sentence. */
export class SentenceError extends WordedError {
  override readonly sentence: Sentence;

  constructor(said: Sentence, options?: ErrorOptions) {
    super(said, options);
    this.sentence = said;
  }
}

/** Returns what an error says in a language; its own message if it is not translated. */
export const sayError = (language: Language, error: Error): string =>
  error instanceof WordedError && error.sentence !== null
    ? saySentence(language, error.sentence)
    : error.message;

/** Joins parts that do not depend on each other: `2 files, 1 folder`. */
export const listed = (language: Language, parts: readonly string[]): string =>
  new Intl.ListFormat(language, { type: 'unit', style: 'short' }).format(parts);
