import { foldedStem, isPhotoName, isRawName } from '@vitrine/contract/sidecars';
import { byFormat } from '../live-photos/pair.ts';

/**
 * Returns the files of a folder that cameras wrote for one exposure: a photo (JPEG, HEIC, AVIF), which is on top, and the raw files
 * with its name (STACK-6).
 */
export function rawPairs<File extends { readonly name: string }>(files: readonly File[]): File[][] {
  const candidates = files.filter(({ name }) => isPhotoName(name) || isRawName(name));
  const groups = Map.groupBy(candidates, ({ name }) => foldedStem(name));
  return [...groups.values()].flatMap((group) => {
    const photos = group.filter(({ name }) => isPhotoName(name)).sort(byFormat);
    const raws = group.filter(({ name }) => isRawName(name));
    return photos.length > 0 && raws.length > 0 ? [[...photos, ...raws]] : [];
  });
}
