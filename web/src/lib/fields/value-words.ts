import type { FieldValue, SetBy } from '@vitrine/contract/field-values';
import type { FieldDefinition } from '@vitrine/contract/fields';
import type { Members, WordsOf } from './types/field-type.ts';
import { viewOf } from './types/registry.ts';

/** Formats a value on one line. The title of a referenced asset is resolved elsewhere. */
export function valueInWords(
  { type }: Pick<FieldDefinition, 'type'>,
  value: Members,
  context: WordsOf,
): string {
  return viewOf[type].words(value, context);
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
