import type { ArchiveProgress } from '@vitrine/contract/archives';
import { locale } from '#lib/languages/language.ts';
import { numberOf } from '#lib/selection/words.ts';

const files = ['file', 'files'] as const;

/** Says how far the download of an archive is. */
export function archiveInWords({ state, files: all, made, left_out }: ArchiveProgress): string {
  const of = `${made.toLocaleString(locale())} of ${numberOf(all, files)}`;
  if (state === 'stopped') return `Broken off after ${of}`;
  if (state !== 'done') return `${of} ready`;
  const packed = `${numberOf(all - left_out, files)} packed`;
  return left_out === 0 ? packed : `${packed}, ${left_out.toLocaleString(locale())} left out`;
}
