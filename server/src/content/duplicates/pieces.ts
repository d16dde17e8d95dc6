/** The first half of a print is cut into pieces of this many bits. */
const PIECE = 16;
const PIECES = 4;

/** The most bits of the first half in which similar prints differ: fewer than two in each piece but one. */
export const MOST_FIRST_BITS = 2 * PIECES - 1;

/** The most bits of all 128 in which similar prints differ. */
export const MOST_BITS = 12;

/** Of a print with few bits that are set, fewer may differ: one of so many. */
export const FEWEST_PER_BIT = 3;

const pieceAt = (print: string, place: number) =>
  Number.parseInt(print.slice(place * PIECE, (place + 1) * PIECE), 2);

/** Returns a piece with its place, as one number. */
const numbered = (place: number, piece: number) => place * 2 ** PIECE + piece;

const places = Array.from({ length: PIECES }, (_, place) => place);

/** Returns the pieces of a print, by which it is found. */
export function piecesOf(print: string): number[] {
  return places.map((place) => numbered(place, pieceAt(print, place)));
}

/**
 * Returns the pieces of which every similar print has at least one: those of this print, also with one bit changed. If
 * two halves differ in at most seven bits, one of the four pieces differs in at most one (multi-index hashing).
 */
export function piecesNear(print: string): number[] {
  return places.flatMap((place) => {
    const piece = pieceAt(print, place);
    const changed = Array.from({ length: PIECE }, (_, bit) => piece ^ (1 << bit));
    return [piece, ...changed].map((near) => numbered(place, near));
  });
}
