import type { FieldDefinition } from '@vitrine/contract/fields';
import type { ExtractionSource } from '@vitrine/contract/limits';

type Applied = Pick<FieldDefinition, 'applies_to'>;

/** Returns whether a field applies to assets of a type; an empty list means all (FIELD-6). */
export function appliesTo({ applies_to }: Applied, type: number): boolean {
  return applies_to.length === 0 || applies_to.includes(type);
}

/** The seeded types of assets that have what a source provides; sources that are not named are of every type. */
const typesOfSource: Readonly<Partial<Record<ExtractionSource, readonly number[]>>> = {
  camera_make: [1],
  camera_model: [1],
  lens: [1],
  exposure_time: [1],
  aperture: [1],
  iso: [1],
  focal_length: [1],
  color_space: [1],
  gps_coordinates: [1, 3],
  capture_datetime: [1, 3],
  duration_seconds: [3, 4],
  codec: [3, 4],
  page_count: [2],
  font_family: [6],
};

/**
 * Returns whether the form of a file of this type offers a field: one that applies to it, and that is not read from other
 * kinds of files, unless it names the type or the file has a value of it.
 */
export function isOfferedFor(
  field: Applied & Pick<FieldDefinition, 'extraction_source'>,
  type: number,
  hasValue: boolean,
): boolean {
  if (!appliesTo(field, type)) return false;
  const types = Object.entries(typesOfSource).find(([source]) => source === field.extraction_source)?.[1];
  return types === undefined || types.includes(type) || field.applies_to.includes(type) || hasValue;
}

/** Returns the fields of a form about several files: those for all types and those for any of the files' types. */
export function fieldsFor<F extends Applied>(fields: readonly F[], types: readonly number[]): F[] {
  return fields.filter(
    (field) => field.applies_to.length === 0 || types.some((type) => appliesTo(field, type)),
  );
}

/** Runs the work for each item with limited concurrency; stops early when one fails. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
