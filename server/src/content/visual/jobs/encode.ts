import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Deps, Encoder } from '../../../core/deps.ts';
import { enqueue, type JobHandler } from '../../../core/job-table.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { codeOf } from '../code.ts';
import { PictureRefused } from '../encoder.ts';

type EncodeDeps = Pick<Deps, 'db' | 'storage' | 'encoder'>;

/** Number of pictures that one round checks before it enqueues the next. */
const ROUND = 200;

/** Returns the object of the rendition for the encoder, or null when there is none. */
async function previewOf(db: Database, hash: string): Promise<string | null> {
  const { rows } = await sql<{ object: string | null }>`
    select renditions -> 'preview' ->> 'object' as object from files where hash = ${hash}`.execute(db);
  return rows[0]?.object ?? null;
}

async function isEncoded(db: Database, hash: string, model: string): Promise<boolean> {
  const { rows } = await sql`
    select from picture_vectors where file_hash = ${hash} and model = ${model}`.execute(db);
  return rows.length > 0;
}

async function keep(
  db: Database,
  hash: string,
  model: string,
  outcome: { vector: number[] } | { error: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // The bytes may have been removed meanwhile.
    const { rows } = await sql`select from files where hash = ${hash} for share`.execute(tx);
    if (rows.length === 0) return;
    if ('error' in outcome) {
      await sql`insert into picture_vectors (file_hash, model, error) values (${hash}, ${model}, ${outcome.error})
        on conflict (file_hash, model) do nothing`.execute(tx);
      return;
    }
    await sql`insert into picture_vectors (file_hash, model, vector) values (${hash}, ${model}, ${outcome.vector}::real[])
      on conflict (file_hash, model) do update set vector = excluded.vector, error = null, encoded_at = now()`.execute(
      tx,
    );
    await sql`insert into picture_codes (file_hash, model, code) values (${hash}, ${model}, ${codeOf(outcome.vector)}::bit(512))
      on conflict (file_hash, model) do update set code = excluded.code`.execute(tx);
  });
}

/** Encodes the preview of some bytes, unless that was done. */
async function encodePreview({ db, storage }: EncodeDeps, encoder: Encoder, hash: string): Promise<void> {
  const model = encoder.info?.model;
  if (model === undefined || (await isEncoded(db, hash, model))) return;
  const object = await previewOf(db, hash);
  if (object === null) return;
  const picture = await storage.withLocalFile(object, (path) => readFile(path));
  try {
    const encoded = await encoder.encode(picture);
    await keep(db, hash, encoded.model, { vector: encoded.vector });
  } catch (error) {
    if (!(error instanceof PictureRefused)) throw error;
    await keep(db, hash, model, { error: error.message });
  }
}

/**
 * Runs after rendering. Does nothing without an encoder: `fill-vectors` follows when there is one. A picture that the
 * encoder refused is not sent again.
 */
export function encodeJob(deps: EncodeDeps): JobHandler<'encode'> {
  return async ({ hash }) => {
    if (deps.encoder !== null) await encodePreview(deps, deps.encoder, hash);
  };
}

/**
 * Encodes pictures without a vector, and afterwards removes vectors of other models. Runs on a schedule, in rounds, and
 * may be killed at any time; does nothing while the encoder is away.
 */
export function fillVectorsJob(deps: EncodeDeps): JobHandler<'fill-vectors'> {
  const { db, encoder } = deps;
  return async () => {
    await encoder?.look();
    const model = encoder?.info?.model;
    if (encoder === null || model === undefined) return;
    const { rows } = await sql<{ hash: string }>`
      select f.hash from files f where f.renditions ? 'preview' and not exists (
        select from picture_vectors v where v.file_hash = f.hash and v.model = ${model})
      limit ${ROUND}`.execute(db);
    for (const { hash } of rows) await encodePreview(deps, encoder, hash);
    if (rows.length === ROUND) await enqueue(db, 'fill-vectors', {}, { key: 'fill-vectors' });
    if (rows.length > 0) return;
    await sql`delete from picture_codes where model <> ${model}`.execute(db);
    await sql`delete from picture_vectors where model <> ${model}`.execute(db);
  };
}
