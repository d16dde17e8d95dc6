import type { ArchiveProgress } from '@vitrine/contract/archives';
import { numberOf } from '#lib/selection/words.ts';

const files = ['file', 'files'] as const;

/** Says how far the download of an archive is. */
export function archiveInWords({ state, files: all, made, left_out }: ArchiveProgress): string {
  const of = `${made.toLocaleString('en')} of ${numberOf(all, files)}`;
  if (state === 'stopped') return `Broken off after ${of}`;
  if (state !== 'done') return `${of} ready`;
  const packed = `${numberOf(all - left_out, files)} packed`;
  return left_out === 0 ? packed : `${packed}, ${left_out.toLocaleString('en')} left out`;
}
