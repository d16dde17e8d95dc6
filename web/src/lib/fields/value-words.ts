import type { FieldValue, SetBy } from '@vitrine/contract/field-values';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { phrase } from '#lib/languages/phrase.ts';
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
  exif: phrase('from the file'),
  iptc: phrase('from the file'),
  xmp: phrase('from the file'),
  api: phrase('by a program'),
  import: phrase('imported'),
  computed: phrase('computed'),
  default: phrase('default'),
  mirror: '',
};

/** Describes the source of a value in full. */
export const sourceInWords: Readonly<Record<SetBy, string>> = {
  manual: phrase('by hand'),
  exif: phrase('read from the file’s EXIF data'),
  iptc: phrase('read from the file’s IPTC data'),
  xmp: phrase('read from the file’s XMP data'),
  api: phrase('by a program'),
  import: phrase('by an import'),
  computed: phrase('computed by the library'),
  default: phrase('the field’s default'),
  mirror: phrase('with the asset itself'),
};

/** Returns the labels of a value's terms as resolved by the service. */
export function resolvedLabels(value: FieldValue | undefined): ReadonlyMap<string, string> {
  return new Map((value?.resolved_options ?? []).map(({ value: slug, label }) => [slug, label]));
}
