import type { FieldDefinition } from '@vitrine/contract/fields';

type Applied = Pick<FieldDefinition, 'applies_to'>;

/** Returns whether a field applies to assets of a type; an empty list means all (FIELD-6). */
export function appliesTo({ applies_to }: Applied, type: number): boolean {
  return applies_to.length === 0 || applies_to.includes(type);
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
