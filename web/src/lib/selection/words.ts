import { locale } from '#lib/languages/language.ts';
import type { Selection } from './selection.svelte.ts';

type Nouns = readonly [one: string, many: string];

/** Formats a number of things: "1 file", "2,340 files". */
export function numberOf(count: number, [one, many]: Nouns): string {
  return count === 1 ? `1 ${one}` : `${count.toLocaleString(locale())} ${many}`;
}

/** Says what is chosen. `total`: the number of all matches in words, if known. */
export function chosenInWords(
  { count, everything }: Pick<Selection, 'count' | 'everything'>,
  nouns: Nouns,
  total: string | undefined,
): string {
  if (everything) return total === undefined ? 'All results selected' : `All ${total} results selected`;
  return count === 0 ? `Select ${nouns[1]}` : `${numberOf(count, nouns)} selected`;
}
