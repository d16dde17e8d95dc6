import type { ArchiveProgress } from '@vitrine/contract/archives';
import { locale } from '#lib/languages/language.ts';
import { plural } from '#lib/languages/plural.ts';

/** Says how far the download of an archive is. */
export function archiveInWords({ state, files: all, made, left_out }: ArchiveProgress): string {
  const ready = made.toLocaleString(locale());
  const files = plural(all, ['# file', '# files']);
  if (state === 'stopped') return `Broken off after ${ready} of ${files}`;
  if (state !== 'done') return `${ready} of ${files} ready`;
  const packed = plural(all - left_out, ['# file packed', '# files packed']);
  return left_out === 0 ? packed : `${packed}, ${left_out.toLocaleString(locale())} left out`;
}
