import { listOf } from '#lib/languages/list.ts';
import { plural } from '#lib/languages/plural.ts';

interface MergeCounts {
  readonly assets: number;
  readonly collections: number;
  readonly aliases: number;
  readonly defaults: number;
  readonly conditions: number;
}

/** Describes what a merge would move. */
export function mergeInWords({ assets, collections, aliases, defaults, conditions }: MergeCounts): string {
  const parts = [
    ...(assets === 0 ? [] : [plural(assets, ['# asset', '# assets'])]),
    ...(collections === 0 ? [] : [plural(collections, ['# collection', '# collections'])]),
    ...(aliases === 0 ? [] : [plural(aliases, ['# alias', '# aliases'])]),
    ...(defaults === 0 ? [] : [plural(defaults, ['# default', '# defaults'])]),
    ...(conditions === 0 ? [] : [plural(conditions, ['# condition', '# conditions'])]),
  ];
  return parts.length === 0
    ? 'It is not used: no value, alias, default or condition would change.'
    : `${listOf(parts)} would change.`;
}
