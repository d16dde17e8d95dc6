import type { ShownAsset } from '@vitrine/contract/assets';
import { locale } from '#lib/languages/language.ts';

/** Returns the words that mark the file that stands for a stack. */
export function stackWords({ assets }: NonNullable<ShownAsset['stack']>): string {
  return `Stack of ${assets.length.toLocaleString(locale())}`;
}
