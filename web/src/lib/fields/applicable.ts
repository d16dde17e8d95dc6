import type { FieldDefinition } from '@vitrine/contract/fields';

type Applied = Pick<FieldDefinition, 'applies_to'>;

/** Whether a field is for assets of a type; none named means all (FIELD-6). */
export function appliesTo({ applies_to }: Applied, type: number): boolean {
  return applies_to.length === 0 || applies_to.includes(type);
}

/** Fields a form about several files offers: those for all types, and those for any type that is among them. */
export function fieldsFor<F extends Applied>(fields: readonly F[], types: readonly number[]): F[] {
  return fields.filter(
    (field) => field.applies_to.length === 0 || types.some((type) => appliesTo(field, type)),
  );
}

/** Does the work for each item, so many at a time; it ends early when one fails. */
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
