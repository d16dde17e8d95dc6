import type { CsvPreview } from '@vitrine/contract/asset-csv';
import { plural } from '#lib/languages/plural.ts';

type Change = CsvPreview['changes'][number];

/** The changes of one asset. */
export interface ChangedAsset {
  readonly id: string;
  readonly changes: readonly Change[];
}

/** Groups changes by their asset, in the order of the file. */
export function byAsset(changes: readonly Change[]): readonly ChangedAsset[] {
  return [...Map.groupBy(changes, ({ id }) => id)].map(([id, own]) => ({ id, changes: own }));
}

/** Says what an import would do, in sentences. */
export function differencesInWords({
  rows,
  changed,
  change_count,
  unchanged,
  refused_count,
}: CsvPreview): readonly string[] {
  if (rows === 0) return ['The file has no rows.'];
  const values = plural(change_count, ['# value', '# values']);
  return [
    changed === 0
      ? 'Nothing would change.'
      : `${values} of ${plural(changed, ['# file', '# files'])} will change.`,
    ...(unchanged === 0
      ? []
      : [plural(unchanged, ['# row says what is already there.', '# rows say what is already there.'])]),
    ...(refused_count === 0
      ? []
      : [plural(refused_count, ['# row will be left out:', '# rows will be left out:'])]),
  ];
}
