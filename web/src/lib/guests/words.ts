import { plural } from '#lib/languages/plural.ts';

/** Describes how many files a guest has picked, of how many. */
export function picksOf(count: number, most: number | undefined): string {
  if (most !== undefined) return `${count} of ${most} picked`;
  return plural(count, ['# picked', '# picked']);
}
