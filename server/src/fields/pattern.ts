import { patternBounds } from '@vitrine/contract/limits';
import { RE2JS } from 're2js';
import { refuse } from '../platform/http/refuse.ts';

export interface ValuePattern {
  /** Whether the whole value matches (spec 2.7 rule 9). */
  matches(value: string): boolean;
}

const { characters, steps, work } = patternBounds;

/** Whether an anchor stands in the pattern: outside of classes, escapes and quotations. */
function hasAnchor(pattern: string): boolean {
  let inClass = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') {
      const quoted = pattern[at + 1] === 'Q' && !inClass;
      const end = quoted ? pattern.indexOf('\\E', at + 2) : at + 1;
      if (end === -1) return false;
      at = quoted ? end + 1 : end;
    } else if (inClass) {
      // `[[:alpha:]^]`: a named class ends with a bracket of its own.
      const named = pattern.startsWith('[:', at) ? pattern.indexOf(':]', at) : -1;
      if (named !== -1) at = named + 1;
      else if (character === ']') inClass = false;
    } else if (character === '[') {
      inClass = true;
      // `[]a]` and `[^]a]`: a bracket right at the beginning stands for itself.
      if (pattern[at + 1] === '^') at += 1;
      if (pattern[at + 1] === ']') at += 1;
    } else if (character === '^' || character === '$') return true;
  }
  return false;
}

/** A pattern that passed checkPattern, ready to match whole values in linear time. */
export function compilePattern(pattern: string): ValuePattern {
  const compiled = RE2JS.compile(pattern);
  return { matches: (value) => compiled.matches(value) };
}

/**
 * Throws a 400 for what is no pattern in RE2's syntax, with the compiler's words, and for one that would hold up the
 * service: linear time is still the size of the program times the length of the text.
 */
export function checkPattern(pattern: string, longestValue: number): void {
  if (pattern.length > characters) throw refuse(400, `regexp_filter is longer than ${characters} characters`);
  if (hasAnchor(pattern)) {
    throw refuse(
      400,
      'regexp_filter has ^ or $, which must not be written: the whole value is matched anyway',
    );
  }
  const size = sizeOf(pattern);
  if (size > steps) {
    throw refuse(
      400,
      `regexp_filter repeats too much: it is a program of ${size} steps, and ${steps} is the most`,
    );
  }
  if (size * longestValue > work) {
    throw refuse(
      400,
      `regexp_filter repeats too much for values of ${longestValue} characters: as a program of ${size} steps ` +
        `it is for values of up to ${Math.floor(work / size)}, which max_length can say`,
    );
  }
}

function sizeOf(pattern: string): number {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch (error) {
    throw refuse(400, `regexp_filter: ${error instanceof Error ? error.message : 'no pattern'}`);
  }
}
