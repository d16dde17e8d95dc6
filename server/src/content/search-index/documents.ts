import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';

/** Documents per statement: far below the statement timeout. */
const CHUNK = 2000;
/** Precedes every key. */
const FIRST = '00000000-0000-0000-0000-000000000000';

type Write = 'write_post_documents' | 'write_asset_documents' | 'write_collection_documents';

/** Rewrites the documents of rows of `keys`, which returns the keys after the given one in order. */
async function writeInChunks(
  tx: Tx,
  write: Write,
  keys: (after: string) => RawBuilder<unknown>,
): Promise<void> {
  let after: string | undefined = FIRST;
  while (after !== undefined) after = (await writeChunk(tx, write, keys(after), CHUNK)).at(-1);
}

/** Rewrites the documents of the first rows of `keys`, and returns their keys. */
async function writeChunk(
  tx: Tx,
  write: Write,
  keys: RawBuilder<unknown>,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await sql<{ ids: string[] | null }>`select array_agg(id order by id) as ids from (
    ${keys} order by id limit ${limit}) next`.execute(tx);
  const ids = rows[0]?.ids ?? [];
  if (ids.length > 0) await sql`select ${sql.raw(write)}(${ids}::uuid[])`.execute(tx);
  return ids;
}

/**
 * Rewrites the documents of everything with a value of this field, in the transaction that changes the field's search
 * rules, so that words which are gated now are no longer found (FIELD-11).
 */
export async function writeDocumentsOfField(tx: Tx, fieldId: string): Promise<void> {
  await writeInChunks(tx, 'write_asset_documents', (after) => withValue('asset', fieldId, after));
  await writeInChunks(tx, 'write_collection_documents', (after) => withValue('collection', fieldId, after));
}

function withValue(kind: 'asset' | 'collection', fieldId: string, after: string): RawBuilder<unknown> {
  const key = sql.ref(`${kind}_id`);
  return sql`select ${key} as id from ${sql.table(`${kind}_field_values`)}
    where field_id = ${fieldId} and ${key} > ${after}::uuid`;
}

/**
 * Rewrites the documents of the next assets or collections with a value of this field. Returns their number and the last
 * one; undefined when there are none.
 */
export async function writeNextDocuments(
  tx: Tx,
  {
    kind,
    fieldId,
    after,
    limit,
  }: { kind: 'asset' | 'collection'; fieldId: string; after: string; limit: number },
): Promise<{ count: number; last: string | undefined }> {
  const ids = await writeChunk(tx, `write_${kind}_documents`, withValue(kind, fieldId, after), limit);
  return { count: ids.length, last: ids.at(-1) };
}

/**
 * Rewrites the documents of everything with this tag after a merge, which fires no trigger on the things themselves.
 */
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

/** Rewrites the documents of these posts or assets. */
export async function writeDocuments(tx: Tx, kind: 'posts' | 'assets', ids: string[]): Promise<void> {
  const write = kind === 'posts' ? sql`write_post_documents` : sql`write_asset_documents`;
  await sql`select ${write}(${ids}::uuid[])`.execute(tx);
}

/**
 * Keeps triggers from writing documents of assets until the transaction ends, which would write one for each statement. The
 * caller writes them (EXTRACT-18).
 */
export async function holdDocuments(tx: Tx): Promise<void> {
  await sql`select set_config('vitrine.filling', 'on', true)`.execute(tx);
}
