import type { Asset, ShownAsset } from '@vitrine/contract/assets';
import type { AiProvenance } from '@vitrine/contract/values';
import { locale } from '#lib/languages/language.ts';
import { phrase } from '#lib/languages/phrase.ts';

/** Returns the file type for display: `JPEG`, `PNG`; `File` without an extension. */
export function fileType(asset: ShownAsset): string {
  const extension = asset.file_extension?.replace(/^\./, '').toUpperCase() ?? '';
  if (extension === 'JPG') return 'JPEG';
  if (extension === 'TIF') return 'TIFF';
  return extension === '' ? 'File' : extension;
}

/** Returns the label for the use of AI; undefined if it is not declared. */
export function provenanceLabel(provenance: AiProvenance | null | undefined): string | undefined {
  if (provenance === 'generated') return 'Made with AI';
  if (provenance === 'assisted') return 'AI assisted';
  return provenance === 'none' ? 'No AI used' : undefined;
}

/** Returns the title of an asset, or a replacement if it has none. */
export function nameOf({ title }: { readonly title: string }): string {
  return title.trim() === '' ? 'Untitled' : title;
}

/** Returns the title of the page of an asset or of its placeholder. */
export function titleOf(asset: Asset): string {
  return asset.restricted ? 'Not shared with you' : nameOf(asset);
}

/** Returns the name of the language of subtitles, in the language of the page. */
export function languageOf(tag: string): string {
  if (tag === 'und') return phrase('an unknown language');
  try {
    return new Intl.DisplayNames([locale()], { type: 'language' }).of(tag) ?? tag;
  } catch {
    // Tags with extensions, such as `en-x-forced`, are valid but have no names.
    return tag;
  }
}

/** Returns the name of a subtitle track: its label, or else its language. */
export function trackName({ lang, label }: { readonly lang: string; readonly label: string }): string {
  return label.trim() === '' || label === lang ? languageOf(lang) : label;
}
