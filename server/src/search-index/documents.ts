import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../platform/database/pool.ts';

/** Documents of one statement: far below the time a statement may take. */
const CHUNK = 2000;

/** Writes the documents of rows of `keys`, which answers those after the given one in their order. */
async function writeInChunks(
  tx: Tx,
  write: 'write_post_documents' | 'write_asset_documents' | 'write_collection_documents',
  keys: (after: string) => RawBuilder<unknown>,
): Promise<void> {
  let after: string | undefined = '00000000-0000-0000-0000-000000000000';
  while (after !== undefined) {
    const { rows } = await sql<{ ids: string[] | null }>`select array_agg(id order by id) as ids from (
      ${keys(after)} order by id limit ${CHUNK}) next`.execute(tx);
    const ids: string[] = rows[0]?.ids ?? [];
    if (ids.length > 0) await sql`select ${sql.raw(write)}(${ids}::uuid[])`.execute(tx);
    after = ids.at(-1);
  }
}

/**
 * Writes the documents of everything that has a value of this field anew, in the transaction that changes what may be
 * found through it: nobody ever finds by words that are behind a gate now (FIELD-11).
 */
export async function writeDocumentsOfField(tx: Tx, fieldId: string): Promise<void> {
  await writeInChunks(
    tx,
    'write_asset_documents',
    (after) => sql`select asset_id as id from asset_field_values
      where field_id = ${fieldId} and asset_id > ${after}::uuid`,
  );
  await writeInChunks(
    tx,
    'write_collection_documents',
    (after) => sql`select collection_id as id from collection_field_values
      where field_id = ${fieldId} and collection_id > ${after}::uuid`,
  );
}

/** The same for everything that has this tag, after a merge, whose own rows wake no trigger. */
export async function writeDocumentsOfTag(tx: Tx, tag: string): Promise<void> {
  await writeInChunks(
    tx,
    'write_post_documents',
    (after) => sql`select id from posts where tags @> array[${tag}] and id > ${after}::uuid`,
  );
  await writeInChunks(
    tx,
    'write_asset_documents',
    (after) => sql`select asset_id as id from asset_tags where value = ${tag} and asset_id > ${after}::uuid`,
  );
}
