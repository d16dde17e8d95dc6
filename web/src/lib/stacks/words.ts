import type { ShownAsset } from '@vitrine/contract/assets';
import { locale } from '#lib/languages/language.ts';

/** Returns the badge of the top file of a stack. */
export function stackWords({ assets }: NonNullable<ShownAsset['stack']>): string {
  return `Stack of ${assets.length.toLocaleString(locale())}`;
}
