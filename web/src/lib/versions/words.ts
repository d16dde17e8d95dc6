import type { AssetVersion } from '@vitrine/contract/versions';
import { fileSize, pixelSize } from '#lib/assets/file-size.ts';
import { plural } from '#lib/languages/plural.ts';

/** Returns the facts of the file of a version: `PNG · 1,200 × 800 · 4.2 MB`. */
export function factsOf({
  file_extension,
  file_size_bytes,
  pixel_width,
  pixel_height,
}: AssetVersion): string {
  return [
    ...(file_extension === null ? [] : [file_extension.toUpperCase()]),
    ...(pixel_width === null || pixel_height === null ? [] : [pixelSize(pixel_width, pixel_height)]),
    fileSize(file_size_bytes),
  ].join(' · ');
}

/** Returns the number of the oldest version with the same file as a later one; undefined if it has a file of its own. */
export function sameFileAs(version: AssetVersion, all: readonly AssetVersion[]): number | undefined {
  const same = all.filter((other) => other.file_hash === version.file_hash && other.number < version.number);
  return same.at(-1)?.number;
}

/** Returns what is wrong with the number of kept versions in a form; undefined if it can be saved. */
export function keptProblem(typed: string): string | undefined {
  return /^\d{1,4}$/.test(typed.trim()) && Number(typed) <= 1000
    ? undefined
    : 'Enter a number from 0 to 1,000.';
}

/** Says how many earlier versions files keep. */
export function keptInWords(keep: number | null): string {
  if (keep === null) return 'All of them.';
  if (keep === 0) return 'None. A new version replaces the file for good.';
  return plural(keep, ['The last one.', 'The last #.']);
}
