import type { Highlight } from '@vitrine/contract/search';

export interface Piece {
  readonly text: string;
  readonly marked: boolean;
}

/** A text cut where its marks begin and end. Places outside of it, or over each other, mark nothing twice. */
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

/** The highlight of what a thing is called, if the words are in it. */
export function nameMatch(matches: readonly Highlight[]): Highlight | undefined {
  return matches.find(({ source }) => source === 'title' || source === 'name');
}

/** The first highlight of anything else. */
export function otherMatch(matches: readonly Highlight[]): Highlight | undefined {
  return matches.find(({ source }) => source !== 'title' && source !== 'name');
}
