import type { Asset } from '@vitrine/contract/assets';
import { stackWords } from '#lib/stacks/words.ts';
import { statusWords } from './sensitivity.ts';

/** Returns what a tile says on its picture. */
export function badgesOf(asset: Asset): readonly string[] {
  if (asset.restricted) return [];
  return [
    ...(asset.stack === undefined ? [] : [stackWords(asset.stack)]),
    ...(asset.processing_status === 'pending' ? ['Processing'] : []),
    ...(asset.status === 'active' ? [] : [statusWords[asset.status].label]),
    ...(asset.mature && asset.preview_available ? ['Mature'] : []),
  ];
}
