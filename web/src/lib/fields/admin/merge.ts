import { locale } from '#lib/languages/language.ts';

interface MergeCounts {
  readonly assets: number;
  readonly collections: number;
  readonly aliases: number;
  readonly defaults: number;
  readonly conditions: number;
}

const counted = (count: number, singular: string, plural: string) =>
  `${count.toLocaleString(locale())} ${count === 1 ? singular : plural}`;

/** Describes what a merge would move. */
export function mergeInWords({ assets, collections, aliases, defaults, conditions }: MergeCounts): string {
  const parts = [
    ...(assets === 0 ? [] : [counted(assets, 'asset', 'assets')]),
    ...(collections === 0 ? [] : [counted(collections, 'collection', 'collections')]),
    ...(aliases === 0 ? [] : [counted(aliases, 'alias', 'aliases')]),
    ...(defaults === 0 ? [] : [counted(defaults, 'default', 'defaults')]),
    ...(conditions === 0 ? [] : [counted(conditions, 'condition', 'conditions')]),
  ];
  const last = parts.pop();
  if (last === undefined) return 'It is not used: no value, alias, default or condition would change.';
  return `${parts.length === 0 ? last : `${parts.join(', ')} and ${last}`} would change.`;
}
