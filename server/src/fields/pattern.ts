import { RE2JS } from 're2js';
import { refuse } from '../platform/http/refuse.ts';

/** How long a pattern is, in characters, and how large its program, so that a match stays quick. */
const LONGEST = 1000;
const LARGEST = 5000;

export interface ValuePattern {
  /** Whether the whole value matches (spec 2.7 rule 9). */
  matches(value: string): boolean;
}

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

/** A pattern in RE2's syntax, ready to match whole values in linear time; a 400 with the compiler's words if it is none. */
export function compilePattern(pattern: string): ValuePattern {
  if (pattern.length > LONGEST) throw refuse(400, `regexp_filter is longer than ${LONGEST} characters`);
  if (hasAnchor(pattern)) {
    throw refuse(
      400,
      'regexp_filter has ^ or $, which must not be written: the whole value is matched anyway',
    );
  }
  const compiled = compile(pattern);
  if (compiled.programSize() > LARGEST) throw refuse(400, 'regexp_filter repeats too much');
  return { matches: (value) => compiled.matches(value) };
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw refuse(400, `regexp_filter: ${error instanceof Error ? error.message : 'no pattern'}`);
  }
}
