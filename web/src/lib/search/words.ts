import type { Highlight, SearchKind } from '@vitrine/contract/search';
import { locale } from '#lib/languages/language.ts';
import { plural } from '#lib/languages/plural.ts';
import type { Sort } from './criteria.ts';

/** Plural labels of the kinds. */
export const kindWords: Readonly<Record<SearchKind, string>> = {
  post: 'Posts',
  asset: 'Assets',
  collection: 'Collections',
  user: 'People',
  tag: 'Tags',
};

/** Singular labels of the kinds. */
export const oneOf: Readonly<Record<SearchKind, string>> = {
  post: 'Post',
  asset: 'Asset',
  collection: 'Collection',
  user: 'Person',
  tag: 'Tag',
};

export const sortWords: readonly { readonly value: Sort; readonly label: string }[] = [
  { value: 'relevance', label: 'Best match' },
  { value: 'newest', label: 'Newest first' },
  { value: 'oldest', label: 'Oldest first' },
];

/** "No results", "1 result", "1,204 results", "More than 1,000 results". */
export function totalInWords(total: number, capped: boolean): string {
  if (capped) return `More than ${new Intl.NumberFormat(locale()).format(total)} results`;
  return total === 0 ? 'No results' : plural(total, ['# result', '# results']);
}

/** Facets cover up to a thousand hits of a kind; the label says so if there are more. */
export function countInWords(count: number, most = 1000): string {
  const number = new Intl.NumberFormat(locale()).format(Math.min(count, most));
  return count > most ? `${number}+` : number;
}

/** The label of the source of a matched text; empty for titles. */
export function sourceInWords({ source, field_label }: Pick<Highlight, 'source' | 'field_label'>): string {
  switch (source) {
    case 'description':
      return 'Description';
    case 'tags':
      return 'Tag';
    case 'file_name':
      return 'File';
    case 'comment':
      return 'Comments';
    case 'field':
      return field_label ?? 'Field';
    default:
      return '';
  }
}
