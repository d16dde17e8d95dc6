import { rightward } from '#lib/languages/direction.ts';

/** The place of an item on the page. */
export interface Place {
  readonly id: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export type Arrow = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';

const arrows: readonly string[] = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'] satisfies Arrow[];
export const isArrow = (key: string): key is Arrow => arrows.includes(key);

const middle = ({ left, width }: Place) => left + width / 2;

/** Orders places as they are read: by rows, and in a row in the direction of the page's language. */
export const readingOrder = (a: Place, b: Place): number => a.top - b.top || (a.left - b.left) * rightward();

/**
 * Returns the item that an arrow key leads to, of places in the order in which they are read: the one before or after it,
 * or of the next row above or below the one nearest to it. Undefined at the edge.
 */
export function neighbour(places: readonly Place[], id: string, arrow: Arrow): string | undefined {
  const at = places.findIndex((place) => place.id === id);
  const from = places[at];
  if (from === undefined) return undefined;
  if (arrow === 'ArrowLeft') return places[at - rightward()]?.id;
  if (arrow === 'ArrowRight') return places[at + rightward()]?.id;
  const down = arrow === 'ArrowDown';
  // Half a pixel of tolerance, because rows begin at fractions of a pixel.
  const beyond = places.filter((place) => (down ? place.top > from.top + 0.5 : place.top < from.top - 0.5));
  const row = down
    ? Math.min(...beyond.map((place) => place.top))
    : Math.max(...beyond.map((place) => place.top));
  const inRow = beyond.filter((place) => Math.abs(place.top - row) <= 0.5);
  return inRow.toSorted((a, b) => Math.abs(middle(a) - middle(from)) - Math.abs(middle(b) - middle(from)))[0]
    ?.id;
}
