import type { Selection } from './selection.svelte.ts';

/** What is said of things of one kind. */
export interface Nouns {
  /** Formats a number of things: "1 file", "2,340 files". */
  readonly counted: (count: number) => string;
  /** A thing: "One file". */
  readonly one: string;
  /** Invites to choose things: "Select files". */
  readonly select: string;
  /** Says that there is nothing to change. */
  readonly none: string;
  /** Says that all things of a list are meant. */
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
