import { type FieldType, hasVocabulary } from '@vitrine/contract/field-types';
import type { FieldValue, ValueMembers } from '@vitrine/contract/field-values';

/** A value of a type, and what the library makes of it. */
interface Sample {
  given: ValueMembers;
  /** As in responses; as given when it is missing. */
  read?: Partial<FieldValue>;
  /** A filter that matches it, and one of the same type that does not, as operator and value. */
  matched: string;
  unmatched: string;
  /** A word by which searches find it; null for types that searches do not look in. */
  word: string | null;
  card: string;
}

/** The options of a field whose values are samples. */
export function optionsFor(type: FieldType): Record<string, unknown> | undefined {
  return hasVocabulary(type) ? { values: [{ value: 'quay', label: 'Harbour wall' }, 'pier'] } : undefined;
}

/** A value of each type. References refer to this asset, titled `Ridge`. */
export function samplesFor(asset: string): Readonly<Record<FieldType, Sample>> {
  return {
    text: {
      given: { value_text: 'Xebec' },
      matched: '=Xebec',
      unmatched: '=xebec',
      word: 'xebec',
      card: 'Xebec',
    },
    longtext: {
      given: { value_text: 'Yawl\nand ketch' },
      matched: '~YAWL',
      unmatched: '~sloop',
      word: 'yawl',
      card: 'Yawl\nand ketch',
    },
    rich_text: {
      given: { value_text: '<p>Zulu <b>lugger</b></p>' },
      matched: '~zulu lugger',
      unmatched: '~<b>',
      word: 'lugger',
      card: 'Zulu  lugger',
    },
    number: { given: { value_num: 76.5 }, matched: '>76', unmatched: '<76', word: null, card: '76.5' },
    boolean: { given: { value_num: 1 }, matched: '=1', unmatched: '=0', word: null, card: 'true' },
    date: {
      given: { value_date: '2024-02-29' },
      read: { value_date: '2024-02-29T00:00:00Z' },
      matched: '=2024-02-29',
      unmatched: '>2024-02-29',
      word: null,
      card: '2024-02-29',
    },
    datetime: {
      given: { value_date: '2024-02-29T23:30:00-05:00' },
      matched: '=2024-02-29',
      unmatched: '=2024-03-01',
      word: null,
      card: '2024-02-29T23:30:00-05:00',
    },
    select: {
      given: { value_text: 'quay' },
      matched: '=Harbour wall',
      unmatched: '=pier',
      word: 'harbour',
      card: 'Harbour wall',
    },
    multi_select: {
      given: { value_options: ['quay', 'pier'] },
      matched: '=pier',
      unmatched: '=wharf',
      word: 'harbour',
      card: 'Harbour wall, pier',
    },
    tree: {
      given: { value_text: 'pier' },
      matched: '=pier',
      unmatched: '=quay',
      word: 'pier',
      card: 'pier',
    },
    reference: {
      given: { value_ref: asset },
      matched: `=${asset}`,
      unmatched: '=00000000-0000-4000-8000-000000000000',
      word: null,
      card: 'Ridge',
    },
  };
}
