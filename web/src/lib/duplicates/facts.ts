import type { ShownAsset } from '@vitrine/contract/assets';
import type { FieldValue } from '@vitrine/contract/field-values';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { fileSize, pixelSize } from '#lib/assets/file-size.ts';
import { fileType } from '#lib/assets/labels.ts';
import { valueInWords } from '#lib/fields/value-words.ts';
import { series } from '#lib/texts/series.ts';
import { shortMomentOf } from '#lib/time/moments.ts';

/** A fact about each file of a group, in their order. */
export interface Fact {
  readonly label: string;
  readonly words: readonly string[];
  /** Whether the files differ in it. */
  readonly differs: boolean;
}

function fact(label: string, words: readonly string[]): Fact {
  return { label, words, differs: new Set(words).size > 1 };
}

const none = '–';

/** Returns the sizes, types, dates and tags of files. */
export function factsOf(assets: readonly ShownAsset[], language: string | undefined): readonly Fact[] {
  const textsOf = (words: (asset: ShownAsset) => string) => assets.map(words);
  return [
    fact(
      'Pixels',
      textsOf(({ pixel_width, pixel_height }) =>
        pixel_width === null || pixel_height === null ? none : pixelSize(pixel_width, pixel_height),
      ),
    ),
    fact(
      'File',
      textsOf((asset) =>
        series([
          fileType(asset),
          ...(asset.file_size_bytes === null ? [] : [fileSize(asset.file_size_bytes)]),
        ]),
      ),
    ),
    fact(
      'Added',
      textsOf(({ created_at }) => shortMomentOf(created_at, language)),
    ),
    fact(
      'Tags',
      textsOf(({ tags }) => (tags.length === 0 ? none : series([...tags].sort()))),
    ),
  ];
}

/** Returns the fields in which the files differ. */
export function differingFields(
  fields: readonly FieldDefinition[],
  values: readonly (readonly FieldValue[])[],
  language: string | undefined,
): readonly Fact[] {
  return fields
    .map((field) =>
      fact(
        field.label,
        values.map((own) => {
          const value = own.find(({ field_id }) => field_id === field.id);
          if (value === undefined) return none;
          if (value.resolved_reference !== undefined) return value.resolved_reference.title;
          const labelOf = (term: string) =>
            value.resolved_options?.find((option) => option.value === term)?.label ?? term;
          return valueInWords(field, value, { labelOf, language });
        }),
      ),
    )
    .filter(({ differs }) => differs);
}

/** Returns the file that is offered to be kept: the one with the most pixels, then bytes, then the oldest. */
export function bestOf(assets: readonly ShownAsset[]): string {
  const pixels = ({ pixel_width, pixel_height }: ShownAsset) => (pixel_width ?? 0) * (pixel_height ?? 0);
  const [best] = [...assets].sort(
    (a, b) =>
      pixels(b) - pixels(a) ||
      (b.file_size_bytes ?? 0) - (a.file_size_bytes ?? 0) ||
      a.created_at.localeCompare(b.created_at),
  );
  return best?.id ?? '';
}
