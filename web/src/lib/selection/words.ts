import type { Selection } from './selection.svelte.ts';

/** The texts about objects of one kind. */
export interface Nouns {
  /** Formats a number of objects: "1 file", "2,340 files". */
  readonly counted: (count: number) => string;
  /** One object: "One file". */
  readonly one: string;
  /** Asks to choose objects: "Select files". */
  readonly select: string;
  /** Says that there is nothing to change. */
  readonly none: string;
  /** Says that an action applies to the whole list. */
  readonly all: string;
}

/** Says what is chosen. `total`: the number of all matches in words, if known. */
export function chosenInWords(
  { count, everything }: Pick<Selection, 'count' | 'everything'>,
  { counted, select }: Nouns,
  total: string | undefined,
): string {
  if (everything) return total === undefined ? 'All results selected' : `All ${total} results selected`;
  return count === 0 ? select : `${counted(count)} selected`;
}
