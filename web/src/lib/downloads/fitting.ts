import type { ShownAsset } from '@vitrine/contract/assets';
import type { DownloadPreset } from '@vitrine/contract/downloads';
import type { DownloadFormat } from '@vitrine/contract/limits';

/** The seeded types of assets that can be made into each format; null for all. */
const typesOf: Readonly<Record<DownloadFormat, readonly number[] | null>> = {
  original: null,
  jpeg: [1],
  png: [1],
  webp: [1],
  avif: [1],
  tiff: [1],
  mp4: [3],
  pdf: [2],
};

/** Returns the presets into which a file of this type can probably be made; the service decides. */
export function presetsFor(
  presets: readonly DownloadPreset[],
  { asset_type }: Pick<ShownAsset, 'asset_type'>,
): DownloadPreset[] {
  return presets.filter(({ format }) => typesOf[format]?.includes(asset_type) ?? true);
}
