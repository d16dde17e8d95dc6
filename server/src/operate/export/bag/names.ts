import { cutToBytes, safeName } from '../../../content/archives/names.ts';
import { divideName } from '../../../content/assets/file-name.ts';

/** File systems take 255 bytes; the rest is for the id, the number of a version and extensions. */
const LONGEST_STEM_BYTES = 150;

/**
 * Returns a readable part of a path that every system takes; `otherwise` if nothing of the text is left. It has no `%`, which manifests
 * encode (RFC 8493, 2.1.3) and `sha256sum` does not decode.
 */
export function pathPart(text: string, otherwise: string): string {
  const cut = cutToBytes(safeName(text.replaceAll('%', '_')), LONGEST_STEM_BYTES).replace(/[\s.]+$/, '');
  return cut === '' ? otherwise : cut;
}

/** What the path of an asset, a post or a collection is made of. */
export interface Named {
  id: string;
  /** Whether another row's id begins alike. */
  is_alike: boolean;
  created_at: string;
}

/**
 * The end of a name: the beginning of the id, or all of it where another begins alike. It makes names unique on every file
 * system, also where case does not count, and keeps them the same when other files come and go.
 */
function tail({ id, is_alike: isAlike }: Named): string {
  return isAlike ? id : id.slice(0, 8);
}

/** `folder/2026/03/`, of the month in which something was created. */
function monthFolder(folder: string, createdAt: string): string {
  const [year = '', month = ''] = createdAt.split('-');
  return `data/${folder}/${year}/${month}`;
}

/** Returns the path of a file of an asset; `mark` tells versions and subtitles from the present file. */
export function assetPath(
  asset: Named & { file_name: string },
  { mark = '', extension }: { mark?: string; extension?: string } = {},
): string {
  const divided = divideName(asset.file_name);
  const end = extension ?? divided.extension;
  const name = `${pathPart(divided.stem, 'File')} ${tail(asset)}${mark}`;
  return `${monthFolder('originals', asset.created_at)}/${name}${end === null ? '' : `.${end}`}`;
}

/** Returns the path of a page about a post or a collection, without its extension. */
export function pagePath(folder: 'posts' | 'collections', page: Named & { title: string }): string {
  const name = `${pathPart(page.title, 'Untitled')} ${tail(page)}`;
  return `${monthFolder(folder, page.created_at)}/${name}`;
}
