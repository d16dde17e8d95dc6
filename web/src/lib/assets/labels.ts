import type { ShownAsset } from '@vitrine/contract/assets';
import type { AiProvenance } from '@vitrine/contract/values';

/** The file type as people write it: `JPEG`, `PNG`; `File` when it has no extension. */
export function fileType(asset: ShownAsset): string {
  const extension = asset.file_extension?.replace(/^\./, '').toUpperCase() ?? '';
  if (extension === 'JPG') return 'JPEG';
  if (extension === 'TIF') return 'TIFF';
  return extension === '' ? 'File' : extension;
}

/** The label a picture carries when it says how AI took part; undefined when it does not. */
export function provenanceLabel(provenance: AiProvenance | null | undefined): string | undefined {
  if (provenance === 'generated') return 'Made with AI';
  if (provenance === 'assisted') return 'AI assisted';
  return provenance === 'none' ? 'No AI used' : undefined;
}

/** What an asset is called; one without a title has no other name. */
export function nameOf({ title }: { readonly title: string }): string {
  return title.trim() === '' ? 'Untitled' : title;
}
