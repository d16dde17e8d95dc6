import { sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import { enqueue, enqueueAll, type JobHandler } from '../../../core/job-table.ts';
import { DecodingStopped } from '../../../media/decoding/process.ts';
import { turnFlags } from '../../../media/decoding/turns.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { takeLock } from '../../../platform/database/take-lock.ts';
import { NO_OWNER } from '../../assets/decoding-jobs.ts';
import { FEWEST_PER_BIT, MOST_BITS, MOST_FIRST_BITS, piecesNear, piecesOf } from '../pieces.ts';

type PrintDeps = Pick<Deps, 'db' | 'storage' | 'decoders'>;

/** The most prints that are compared with a new one. Pieces that more pictures share say nothing. */
const MOST_CANDIDATES = 2000;

/** The most similar files that are kept of one file: those that differ least. */
const MOST_PAIRS = 50;

/** Pictures and films. Pages of text all look alike. */
const compared = sql<boolean>`(f.mime like 'image/%' or f.mime like 'video/%')`;

/** Stores a print, and the pairs with similar ones. Prints that are stored at the same time find each other. */
async function keepPrint(tx: Tx, hash: string, print: string | null): Promise<void> {
  await takeLock(tx, 'picturePrints');
  // The bytes may have been removed meanwhile.
  const { rows } = await sql`select from files where hash = ${hash} for key share`.execute(tx);
  if (rows.length === 0) return;
  await sql`insert into picture_prints (file_hash, print, pieces)
    values (${hash}, ${print}::bit(128), ${print === null ? [] : piecesOf(print)}::integer[])
    on conflict (file_hash) do update set print = excluded.print, pieces = excluded.pieces, made_at = now()`.execute(
    tx,
  );
  if (print === null) return;
  await sql`insert into similar_files (first_hash, second_hash, bits)
    select least(n.file_hash, ${hash}), greatest(n.file_hash, ${hash}), n.bits from (
      select c.file_hash, bit_count(c.print # ${print}::bit(128))::integer as bits from (
        select p.file_hash, p.print from picture_prints p
        where p.pieces && ${piecesNear(print)}::integer[] and p.file_hash <> ${hash} limit ${MOST_CANDIDATES}) c
      where bit_count(substring(c.print from 1 for 64) # substring(${print}::bit(128) from 1 for 64)) <= ${MOST_FIRST_BITS}
        and bit_count(c.print # ${print}::bit(128)) <= least(${MOST_BITS}::integer,
          bit_count(c.print) / ${FEWEST_PER_BIT}::integer, bit_count(${print}::bit(128)) / ${FEWEST_PER_BIT}::integer)
      order by bits, c.file_hash limit ${MOST_PAIRS}) n
    on conflict (first_hash, second_hash) do update set bits = excluded.bits`.execute(tx);
}

/**
 * Compares a picture with all others, soon after its preview is stored (DUPLICATE-2). Idempotent. Works on the preview,
 * which is small whatever was uploaded.
 */
export function fingerprintJob({ db, storage, decoders }: PrintDeps): JobHandler<'fingerprint'> {
  return async ({ hash }) => {
    const { rows } = await sql<{ object: string | null }>`
      select f.renditions -> 'preview' ->> 'object' as object from files f where f.hash = ${hash} and ${compared}`.execute(
      db,
    );
    const object = rows[0]?.object ?? null;
    if (object === null) return;
    const print = await storage
      .withLocalFile(object, (path) => decoders.run('picture', NO_OWNER, 'print', { path }))
      .catch((error: unknown) => {
        // Trying again would exceed the limit again.
        if (error instanceof DecodingStopped) return null;
        throw error;
      });
    await db.transaction().execute((tx) => keepPrint(tx, hash, print));
  };
}

/** Pictures per round. */
const ROUND = 200;

/**
 * Enqueues the comparison of pictures that have none, in rounds: those that were stored before there were fingerprints.
 * Each round continues after the last, so that all of them together read every file once.
 */
export function fillFingerprintsJob({ db }: Pick<Deps, 'db'>): JobHandler<'fill-fingerprints'> {
  return async ({ after = '' }) => {
    const { rows } = await sql<{ hash: string }>`
      select f.hash from files f where f.hash > ${after} and f.renditions ? 'preview' and ${compared} and not exists (
        select from picture_prints p where p.file_hash = f.hash)
      order by f.hash limit ${ROUND}`.execute(db);
    await db.transaction().execute(async (tx) => {
      await enqueueAll(
        tx,
        'fingerprint',
        rows.map(({ hash }) => ({
          payload: { hash },
          key: `fingerprint:${hash}`,
          flags: turnFlags('picture', NO_OWNER),
        })),
      );
      const last = rows[ROUND - 1];
      if (last !== undefined) {
        const runAt = new Date(Date.now() + 30_000).toISOString();
        await enqueue(tx, 'fill-fingerprints', { after: last.hash }, { key: 'fill-fingerprints', runAt });
      }
    });
  };
}
