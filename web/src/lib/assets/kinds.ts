import type { ShownAsset } from '@vitrine/contract/assets';

type Kind = 'picture' | 'document' | 'video' | 'sound' | '3D model' | 'font' | 'file';

/** The kinds of the asset types that every library has. Imported libraries add types of their own. */
const kinds: readonly (Kind | undefined)[] = [
  undefined,
  'picture',
  'document',
  'video',
  'sound',
  '3D model',
  'font',
];

/** Returns what kind of file an asset is, in the singular. */
export function kindOf({ asset_type }: Pick<ShownAsset, 'asset_type'>): Kind {
  return kinds[asset_type] ?? 'file';
}

/** Returns how many files there are: `5 pictures`, or `5 files` of different kinds. */
export function countedKinds(assets: readonly Pick<ShownAsset, 'asset_type'>[]): string {
  const [first, ...others] = assets.map(kindOf);
  const kind = first !== undefined && others.every((other) => other === first) ? first : 'file';
  return `${assets.length} ${kind}s`;
}
