import type { Highlight } from '@vitrine/contract/search';

export interface Piece {
  readonly text: string;
  readonly marked: boolean;
}

/** Splits a text at the ends of its marks. Ignores marks that are out of range or overlap. */
export function piecesOf({ text, ranges }: Pick<Highlight, 'text' | 'ranges'>): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start)) {
    const from = Math.max(at, start);
    const to = Math.min(end, text.length);
    if (to <= from) continue;
    if (from > at) pieces.push({ text: text.slice(at, from), marked: false });
    pieces.push({ text: text.slice(from, to), marked: true });
    at = to;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), marked: false });
  return pieces;
}

/** Returns the highlight of a hit's title, if the words are in it. */
export function nameMatch(matches: readonly Highlight[]): Highlight | undefined {
  return matches.find(({ source }) => source === 'title' || source === 'name');
}

/** Returns the first highlight that is not of the title. */
export function otherMatch(matches: readonly Highlight[]): Highlight | undefined {
  return matches.find(({ source }) => source !== 'title' && source !== 'name');
}
