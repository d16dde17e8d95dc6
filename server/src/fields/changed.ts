import { sql } from 'kysely';
import type { Tx } from '../platform/database/pool.ts';
import { writeDocumentsOfField } from '../search/documents.ts';

/** A definition is another now: whatever a process keeps of definitions is stale (spec 4.6 rule 2). */
export async function definitionChanged(tx: Tx): Promise<void> {
  await sql`update fields_epoch set epoch = epoch + 1`.execute(tx);
}

/**
 * What search may find through a field is another now: whether it is searchable, who may read it, its name, its terms,
 * or whether it is there at all (spec 2.7 rule 3). Called in the transaction of the change.
 */
export async function fieldChanged(tx: Tx, fieldId: string): Promise<void> {
  await definitionChanged(tx);
  await writeDocumentsOfField(tx, fieldId);
}

/** The epoch of definitions; what was read under it holds as long as it stands. */
export async function readFieldsEpoch(db: Tx): Promise<number> {
  const { rows } = await sql<{ epoch: number }>`select epoch from fields_epoch`.execute(db);
  return rows[0]?.epoch ?? 0;
}
