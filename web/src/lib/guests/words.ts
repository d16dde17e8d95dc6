import { plural } from '#lib/languages/plural.ts';

/** Describes how many files a guest has picked, of how many. */
export function picksOf(count: number, most: number | undefined): string {
  if (most !== undefined) return `${count} of ${most} picked`;
  return plural(count, ['# picked', '# picked']);
}

/** Returns what was written after a text was sent, while it was on its way. */
export function writtenSince(sent: string, now: string): string {
  return now.startsWith(sent) ? now.slice(sent.length).trimStart() : now;
}
