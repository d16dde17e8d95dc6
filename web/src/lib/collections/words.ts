import { locale } from '#lib/languages/language.ts';
import { plural } from '#lib/languages/plural.ts';

/** The note shown wherever others may see fewer posts of a collection. */
export const partialPostsNote = 'People see only those of its posts and files that they may see anyway.';

/** Describes the number of items, which are posts unless it has files; counting stops at `most`. */
export function itemsInWords(count: number, most: number, hasFiles: boolean): string {
  if (count < most)
    return hasFiles ? plural(count, ['# item', '# items']) : plural(count, ['# post', '# posts']);
  const shown = `${new Intl.NumberFormat(locale()).format(count)}+`;
  return hasFiles ? `${shown} items` : `${shown} posts`;
}
