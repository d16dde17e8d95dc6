import { listSimilarAssets, mostSimilar, type SimilarAsset } from '@vitrine/contract/browsing';
import { sql } from 'kysely';
import { servedAssets, shownAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { type AssetRow, assetColumns, assetJoins, showRow } from '../assets/show.ts';
import { FEWEST_PER_BIT, piecesNear } from '../duplicates/pieces.ts';

const BITS = 128;
/** The most bits in which similar pictures differ: twice as many as in duplicates. */
const MOST_BITS = 24;
/** The most prints that are compared. */
const MOST_CANDIDATES = 2000;

/**
 * Returns the print of a file whose bytes the caller gets; null if there is none. Throws 404 to callers who are not shown
 * the file.
 */
async function printOf(db: Database, caller: Caller, id: string): Promise<string | null> {
  const { rows } = await sql<{ print: string | null }>`
    select case when ${servedAssets(caller)} then p.print::text end as print
    from assets a left join picture_prints p on p.file_hash = a.file_hash
    where a.id = ${id} and ${shownAssets(caller)}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return row.print;
}

/** Pictures that the caller does not get do not displace others: the content rule is part of the search. */
async function nearest(
  { db, ladder }: Pick<Deps, 'db' | 'ladder'>,
  caller: Caller,
  { id, print }: { id: string; print: string },
): Promise<SimilarAsset[]> {
  const { rows } = await sql<AssetRow & { bits: number }>`
    with near as materialized (
      select c.file_hash, bit_count(c.print # ${print}::bit(128))::integer as bits
      from (select p.file_hash, p.print from picture_prints p
        where p.pieces && ${piecesNear(print)}::integer[] limit ${MOST_CANDIDATES}) c
      where bit_count(c.print # ${print}::bit(128)) <= least(${MOST_BITS}::integer,
        bit_count(c.print) / ${FEWEST_PER_BIT}::integer, bit_count(${print}::bit(128)) / ${FEWEST_PER_BIT}::integer)),
    found as materialized (
      select a.id, n.bits from near n join assets a on a.file_hash = n.file_hash
      where a.id <> ${id} and ${servedAssets(caller)}
      order by n.bits, a.created_at desc, a.id limit ${mostSimilar})
    select ${assetColumns(caller, ladder)}, found.bits from found join assets a on a.id = found.id ${assetJoins}
    order by found.bits, a.created_at desc, a.id`.execute(db);
  return rows.map((row) => ({ asset: showRow(caller, row), distance: row.bits / BITS }));
}

/** `GET /assets/{id}/similar` (BROWSE-8). */
export const similar = handle(listSimilarAssets, async (deps, { caller, params: { id } }) => {
  const print = await printOf(deps.db, caller, id);
  const items = print === null ? [] : await nearest(deps, caller, { id, print });
  return { status: 200, body: { items, next_cursor: null } };
});
