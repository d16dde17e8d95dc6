import type { Highlight } from '@vitrine/contract/search';
import type { ParsedQuery } from '../search-index/parsed-query.ts';

/** How the words of a query appear in a text. */
export interface HighlightTerms {
  /** Words as in the documents; `beginning` also marks longer words. */
  lexemes: readonly { text: string; beginning: boolean }[];
  /** Parts of scripts without spaces, folded. */
  runs: readonly string[];
}

/** Scripts whose characters are separate words in documents (migration 0013, search_text). */
const unspaced =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff]/u;

/** Approximate length of a snippet. */
const SNIPPET = 200;
const BEFORE = 60;

/** Letters that documents spell without their strokes and ligatures, in lower case. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ð: 'd',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  ŧ: 't',
};
const otherLetters = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'gu');

/** Removes case, accents, points, kashida and compatibility forms, as documents do. */
function fold(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/[\p{M}\u0640]/gu, '')
      .toLowerCase()
      .replace(otherLetters, (letter) => plainLetters[letter] ?? letter)
      // Composes the syllables of Korean again.
      .normalize('NFC')
  );
}

/** A letter with its marks, or a syllable of Korean of several letters. */
const characters = /[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?|.\p{M}*/gsu;

interface Folded {
  text: string;
  /** The characters from which each unit of `text` comes. */
  spans: readonly Span[];
}

function foldEach(text: string): Folded {
  let folded = '';
  const spans: Span[] = [];
  // Folding a letter takes a microsecond, and texts have up to 20,000.
  const known = new Map<string, string>();
  for (const { 0: character, index } of text.matchAll(characters)) {
    const part = known.get(character) ?? fold(character);
    known.set(character, part);
    folded += part;
    for (let at = 0; at < part.length; at += 1) spans.push({ start: index, end: index + character.length });
  }
  return { text: folded, spans };
}

export function highlightTermsOf(parsed: ParsedQuery): HighlightTerms {
  const lexemes = [...parsed.either.matchAll(/'((?:[^']|'')*)'(:[*A-D]*)?/g)].map(
    ([, text = '', suffix = '']) => ({
      // Documents keep some marks, such as the madda of Arabic.
      text: fold(text.replaceAll("''", "'")),
      beginning: suffix.includes('*') || (parsed.stemmed && text.length > 2),
    }),
  );
  const wanted = parsed.terms.filter((term) => !term.unwanted).map((term) => fold(term.text));
  return {
    lexemes: lexemes.filter(({ text }) => !unspaced.test(text)),
    runs: wanted.flatMap((text) => text.split(/[^\p{L}\p{N}]+/u)).filter((run) => unspaced.test(run)),
  };
}

interface Span {
  start: number;
  end: number;
}

/** Returns the positions of parts of scripts without spaces. */
function spansOfRuns(text: string, runs: readonly string[]): Span[] {
  const whole = fold(text);
  const found = runs.filter((run) => whole.includes(run));
  if (found.length === 0) return [];
  const folded = foldEach(text);
  const spans: Span[] = [];
  for (const run of found) {
    let at = folded.text.indexOf(run);
    while (at !== -1 && spans.length < 100) {
      const [first, last] = [folded.spans[at], folded.spans[at + run.length - 1]];
      if (first !== undefined && last !== undefined) spans.push({ start: first.start, end: last.end });
      at = folded.text.indexOf(run, at + run.length);
    }
  }
  return spans;
}

/** Returns the positions of the marks in a text, in order and without overlaps. */
function findHighlights(text: string, { lexemes, runs }: HighlightTerms): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    const word = fold(match[0]);
    const isMarked = lexemes.some((lexeme) =>
      lexeme.beginning ? word.startsWith(lexeme.text) : word === lexeme.text,
    );
    if (isMarked) spans.push({ start: match.index, end: match.index + match[0].length });
  }
  if (runs.length > 0) spans.push(...spansOfRuns(text, runs));
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  return spans
    .filter((span, index) => index === 0 || span.start >= (spans[index - 1]?.end ?? 0))
    .slice(0, 20);
}

/** Avoids splitting a character. */
function whole(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

/** Returns the text around the first mark, or null without one. */
export function highlight(
  origin: Omit<Highlight, 'text' | 'ranges'>,
  text: string,
  marks: HighlightTerms,
): Highlight | null {
  const spans = findHighlights(text, marks);
  const [first] = spans;
  if (first === undefined) return null;
  const start = text.length <= SNIPPET ? 0 : whole(text, Math.max(0, first.start - BEFORE));
  const end =
    text.length <= SNIPPET
      ? text.length
      : whole(text, Math.max(first.end, Math.min(text.length, start + SNIPPET)));
  const ranges = spans
    .filter((span) => span.start >= start && span.end <= end)
    .map((span) => ({ start: span.start - start, end: span.end - start }));
  return { ...origin, text: text.slice(start, end), ranges };
}
