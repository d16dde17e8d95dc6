import bidiFactory, { type Bidi } from 'bidi-js';

/** The direction in which a text is read. */
export type Direction = 'ltr' | 'rtl';

// The CommonJS module of the package is the function itself, but is declared with a default export.
const bidi = (bidiFactory as unknown as () => Bidi)();

/** Letters and digits of right-to-left scripts, and marks for this direction. */
const rightToLeft =
  /[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Returns the direction of the first letter of a text, as `dir="auto"` in HTML; `otherwise` for one without letters. */
export function directionOfText(text: string, otherwise: Direction = 'ltr'): Direction {
  const [letter] = /\p{L}/u.exec(text) ?? [];
  if (letter === undefined) return otherwise;
  return rightToLeft.test(letter) ? 'rtl' : 'ltr';
}

/** Returns the embedding level of each UTF-16 unit of a paragraph by the Unicode Bidirectional Algorithm (UAX #9). */
export function levelsOf(paragraph: string, base: Direction): Uint8Array {
  if (base === 'ltr' && !rightToLeft.test(paragraph)) return new Uint8Array(paragraph.length);
  return bidi.getEmbeddingLevels(paragraph, base).levels;
}

/** Returns the character that stands for this one from right to left, such as `)` for `(`. */
export function mirrored(character: string): string {
  return bidi.getMirroredCharacter(character) ?? character;
}

/** A part of a line whose characters have one direction: from `start` to before `end`. */
export interface DirectedRun {
  start: number;
  end: number;
  direction: Direction;
}

interface Leveled {
  start: number;
  end: number;
  level: number;
}

/** Splits a line where the level changes. Space at its end has the level of the paragraph (rule L1). */
function leveledRuns(line: string, levels: Uint8Array, base: number): Leveled[] {
  const text = line.trimEnd().length;
  const runs: Leveled[] = [];
  for (let at = 0; at < line.length; at += 1) {
    const level = at < text ? (levels[at] ?? base) : base;
    const last = runs.at(-1);
    if (last?.level === level) last.end = at + 1;
    else runs.push({ start: at, end: at + 1, level });
  }
  return runs;
}

/** Returns the runs of a line from left to right (rule L2). `levels` are those of its characters in the paragraph. */
export function runsOf(line: string, levels: Uint8Array, base: Direction): DirectedRun[] {
  let runs = leveledRuns(line, levels, base === 'rtl' ? 1 : 0);
  for (let level = Math.max(0, ...runs.map((run) => run.level)); level > 0; level -= 1) {
    const ordered: Leveled[] = [];
    let reversed: Leveled[] = [];
    for (const run of runs) {
      if (run.level >= level) {
        reversed.unshift(run);
        continue;
      }
      ordered.push(...reversed, run);
      reversed = [];
    }
    runs = [...ordered, ...reversed];
  }
  return runs.map(({ start, end, level }) => ({ start, end, direction: level % 2 === 1 ? 'rtl' : 'ltr' }));
}
