import { sql } from 'kysely';
import type { Tx } from '../platform/database/pool.ts';

/** Documents of one statement: far below the time a statement may take. */
const CHUNK = 2000;

const subjects = [
  { values: 'asset_field_values', key: 'asset_id', write: 'write_asset_documents' },
  { values: 'collection_field_values', key: 'collection_id', write: 'write_collection_documents' },
] as const;

/**
 * Writes the documents of everything that has a value of this field anew, in the transaction that changes what may be
 * found through it: nobody ever finds by words that are behind a gate now (spec 2.7 rule 3).
 */
export async function writeDocumentsOfField(tx: Tx, fieldId: string): Promise<void> {
  for (const { values, key, write } of subjects) {
    let after: string | undefined = '00000000-0000-0000-0000-000000000000';
    while (after !== undefined) {
      const { rows } = await sql<{ ids: string[] | null }>`select array_agg(id order by id) as ids from (
        select ${sql.ref(key)} as id from ${sql.table(values)}
        where field_id = ${fieldId} and ${sql.ref(key)} > ${after}::uuid order by id limit ${CHUNK}) next`.execute(
        tx,
      );
      const ids: string[] = rows[0]?.ids ?? [];
      if (ids.length > 0) await sql`select ${sql.raw(write)}(${ids}::uuid[])`.execute(tx);
      after = ids.at(-1);
    }
  }
}
