import type { FieldValue, SetBy, ValueChange } from '@vitrine/contract/field-values';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { localeOf, writtenMomentOf } from '#lib/time/moments.ts';

/** Formats a day, independently of the time zone. */
export function dayInWords(date: string, language: string | undefined): string {
  const style: Intl.DateTimeFormatOptions = { dateStyle: 'long', timeZone: 'UTC' };
  return new Intl.DateTimeFormat(localeOf(language), style).format(new Date(date));
}

const named: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
};

/** Returns rich text without markup, on one line. */
export function plainText(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|quot|#39|nbsp|amp);/g, (one) => named[one] ?? one)
    .replace(/\s+/g, ' ')
    .trim();
}

type Members = NonNullable<ValueChange['after']>;

export interface WordsOf {
  /** Returns the label of a term, or its slug. */
  labelOf(term: string): string;
  readonly language: string | undefined;
}

/** Formats a value on one line. The title of a referenced asset is resolved elsewhere. */
export function valueInWords(
  { type }: Pick<FieldDefinition, 'type'>,
  value: Members,
  { labelOf, language }: WordsOf,
): string {
  const { value_text, value_num, value_date, value_options, value_ref } = value;
  if (value_options !== undefined) return value_options.map(labelOf).join(', ');
  if (value_date !== undefined)
    return type === 'date' ? dayInWords(value_date, language) : writtenMomentOf(value_date, language);
  if (value_num !== undefined) {
    if (type === 'boolean') return value_num === 1 ? 'Yes' : 'No';
    return value_num.toLocaleString(localeOf(language), { maximumFractionDigits: 12, useGrouping: false });
  }
  if (value_ref !== undefined) return 'An asset';
  if (value_text === undefined) return '';
  if (type === 'select' || type === 'tree') return labelOf(value_text);
  return type === 'rich_text' ? plainText(value_text) : value_text;
}

/** Describes the source of a value briefly; empty for values that people typed. */
export const markOf: Readonly<Record<SetBy, string>> = {
  manual: '',
  exif: 'from the file',
  iptc: 'from the file',
  xmp: 'from the file',
  api: 'by a program',
  import: 'imported',
  computed: 'computed',
  default: 'default',
  mirror: '',
};

/** Describes the source of a value in full. */
export const sourceInWords: Readonly<Record<SetBy, string>> = {
  manual: 'by hand',
  exif: 'read from the file’s EXIF data',
  iptc: 'read from the file’s IPTC data',
  xmp: 'read from the file’s XMP data',
  api: 'by a program',
  import: 'by an import',
  computed: 'computed by the library',
  default: 'the field’s default',
  mirror: 'with the asset itself',
};

/** Returns the labels of a value's terms as resolved by the service. */
export function resolvedLabels(value: FieldValue | undefined): ReadonlyMap<string, string> {
  return new Map((value?.resolved_options ?? []).map(({ value: slug, label }) => [slug, label]));
}
