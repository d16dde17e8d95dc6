import { listExposedAssets, restrictAssets } from '@vitrine/contract/exposed-assets';
import { type RawBuilder, sql } from 'kysely';
import { exposedAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { type AssetRow, assetColumns, assetJoins, showRow } from '../../content/assets/show.ts';
import { handle } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database } from '../../platform/database/pool.ts';
import { timeCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { refuse } from '../../platform/http/refuse.ts';

/** Maximum number of assets changed per transaction and per request. */
const BATCH = 500;
const MOST = 5000;

async function countExposed(db: Database, which: RawBuilder<boolean>): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) from assets a where ${which}`.execute(db);
  return rows[0]?.count ?? 0;
}

type ExposedRow = AssetRow & { asset_exposure: 'none' | 'narrow' | 'org-only' };

/** `GET /admin/assets/exposed`: newest first, with the total. */
export const list = handle(listExposedAssets, async ({ db, ladder }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const key = timeCursor.read(query.cursor);
  const after =
    key === null
      ? sql<boolean>`true`
      : sql<boolean>`(a.created_at, a.id) < (${key.at}::timestamptz, ${key.id}::uuid)`;
  const { rows } = await sql<ExposedRow>`
    select ${assetColumns(caller, ladder)}, a.exposure as asset_exposure from assets a ${assetJoins}
    where ${exposedAssets} and ${after} order by a.created_at desc, a.id desc limit ${limit + 1}`.execute(db);
  const page = cutPage(rows, limit, (last) =>
    timeCursor.after({ at: last.asset_created_at, id: last.asset_id }),
  );
  const items = page.items.map((row) => ({ asset: showRow(caller, row), posts: row.asset_exposure }));
  return { status: 200, body: { ...page, items, total: await countExposed(db, exposedAssets) } };
});

/** Restricts a batch of assets that are still exposed, ordered by id; returns their number. */
async function restrictBatch(db: Database, caller: SignedIn, which: RawBuilder<boolean>): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`
      update assets x set sensitivity = 'posts',
        updated_at = greatest(clock_timestamp(), x.updated_at + interval '1 millisecond')
      from (select a.id from assets a where ${which} order by a.id limit ${BATCH} for no key update of a) found
      where x.id = found.id returning x.id`.execute(tx);
    if (rows.length > 0) {
      await recordEvent(tx, caller, {
        event: 'assets.restricted',
        metadata: { count: rows.length, asset_ids: rows.map(({ id }) => id) },
      });
    }
    return rows.length;
  });
}

/** `POST /admin/assets/restrict`: assets that are not exposed any more are left unchanged. */
export const restrict = handle(restrictAssets, async ({ db }, { caller, body }) => {
  if ((body.ids === undefined) === (body.all === undefined)) throw refuse('ids-or-all');
  const which =
    body.ids === undefined
      ? exposedAssets
      : sql<boolean>`(a.id = any(${body.ids}::uuid[]) and ${exposedAssets})`;
  if (body.dry_run === true) {
    const found = await countExposed(db, which);
    return { status: 200, body: { count: found, remaining: found } };
  }
  let count = 0;
  while (count < MOST) {
    const changed = await restrictBatch(db, caller, which);
    count += changed;
    if (changed < BATCH) break;
  }
  return { status: 200, body: { count, remaining: await countExposed(db, which) } };
});
