import { hasVocabulary } from '@vitrine/contract/field-types';
import type { DefaultValue, FieldDefinition, FieldOptions } from '@vitrine/contract/fields';
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../../platform/database/pool.ts';
import { takeLock } from '../../../platform/database/take-lock.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { writeDocumentsOfField } from '../../search-index/documents.ts';
import { rewriteWords } from '../run.ts';

/** A locked definition without its vocabulary. */
export interface LockedField extends Omit<FieldDefinition, 'options' | 'default_value'> {
  options: FieldOptions;
  default_value: DefaultValue | null;
}

/** Serialises changes of definitions, because their conditions refer to each other. */
export async function lockDefinitions(tx: Tx): Promise<void> {
  await takeLock(tx, 'fieldDefinitions');
}

/**
 * Locks a definition; 404 when none of those `given` has this id. `for update` conflicts with the lock that value writes
 * take, so that no value can name a term while it is being removed.
 */
export async function lockField(
  tx: Tx,
  id: string,
  given: RawBuilder<boolean> = sql`true`,
): Promise<LockedField> {
  const { rows } = await sql<LockedField>`
    select d.* from fields d where d.id = ${id} and ${given} for update`.execute(tx);
  const field = rows[0];
  if (field === undefined) throw notFound();
  return field;
}

/** Locks a definition that has a vocabulary; 400 when its type has none. */
export async function lockVocabulary(tx: Tx, id: string, given?: RawBuilder<boolean>): Promise<LockedField> {
  const field = await lockField(tx, id, given);
  if (!hasVocabulary(field.type)) throw refuse('field-without-vocabulary', { type: field.type });
  return field;
}

/** Invalidates every process's cached definitions (FIELD-39). */
export async function definitionChanged(tx: Tx): Promise<void> {
  await sql`update fields_epoch set epoch = epoch + 1`.execute(tx);
}

/**
 * Invalidates cached definitions and rewrites the search documents of the field's subjects, however many, in the
 * transaction that changes who reads the field (FIELD-44).
 */
export async function readersChanged(tx: Tx, fieldId: string): Promise<void> {
  await definitionChanged(tx);
  await writeDocumentsOfField(tx, fieldId);
}

/**
 * Invalidates cached definitions and rewrites the search documents of the field's subjects, or leaves many of them to a
 * job (FIELD-44). Call it in the transaction that changes the field's terms or `searchable`.
 */
export async function wordsChanged(tx: Tx, fieldId: string, actorRef: number): Promise<void> {
  await definitionChanged(tx);
  await rewriteWords(tx, fieldId, actorRef);
}

/** The epoch of definitions. Cached definitions are valid while it does not change. */
export async function readFieldsEpoch(db: Tx): Promise<number> {
  const { rows } = await sql<{ epoch: number }>`select epoch from fields_epoch`.execute(db);
  return rows[0]?.epoch ?? 0;
}
