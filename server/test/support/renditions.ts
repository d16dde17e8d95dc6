import type { AssetMedia } from '@vitrine/contract/media';
import { renditionNameOf, renditions } from '@vitrine/contract/renditions';

/** Returns the renditions of a file that differ from their entry in the registry: in type, size or kind of file. */
export function undeclaredRenditions({ kind, variants }: AssetMedia): unknown[] {
  return variants.filter(({ key, type, width = 0, height = 0 }) => {
    const name = renditionNameOf(key);
    if (name === null) return false;
    const { kinds, types, largestSide } = renditions[name];
    const [allowedKinds, allowedTypes]: (readonly string[])[] = [kinds, types];
    return !(
      allowedKinds?.includes(kind) &&
      allowedTypes?.includes(type) &&
      (largestSide === null || Math.max(width, height) <= largestSide)
    );
  });
}
