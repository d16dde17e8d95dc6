import type { DefaultValue, FieldDefinition, FieldOptions } from '@vitrine/contract/fields';
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../platform/database/pool.ts';
import { notFound, refuse } from '../platform/http/refuse.ts';
import { hasVocabulary } from './vocabulary.ts';

/** A definition as it stands, without its vocabulary. */
export interface StandingField extends Omit<FieldDefinition, 'options' | 'default_value'> {
  options: FieldOptions;
  default_value: DefaultValue | null;
}

/** Definitions refer to each other by conditions, so they are changed one after the other. */
const DEFINITIONS_LOCK = 7_431_011;

export async function lockDefinitions(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${DEFINITIONS_LOCK})`.execute(tx);
}

/**
 * Locks a definition: 404 when there is none among those given. `for update` also waits for values that are being
 * written with this field, and they for us, so that no value names a term that is going.
 */
export async function lockField(
  tx: Tx,
  id: string,
  given: RawBuilder<boolean> = sql`true`,
): Promise<StandingField> {
  const { rows } = await sql<StandingField>`
    select d.* from fields d where d.id = ${id} and ${given} for update`.execute(tx);
  const field = rows[0];
  if (field === undefined) throw notFound();
  return field;
}

/** Locks a definition that has a vocabulary; 400 when its type has none. */
export async function lockVocabulary(
  tx: Tx,
  id: string,
  given?: RawBuilder<boolean>,
): Promise<StandingField> {
  const field = await lockField(tx, id, given);
  if (!hasVocabulary(field.type)) throw refuse(400, `a field of type ${field.type} has no vocabulary`);
  return field;
}
