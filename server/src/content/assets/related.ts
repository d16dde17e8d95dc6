import {
  addRelatedAsset,
  listRelatedAssets,
  mostRelated,
  removeRelatedAsset,
} from '@vitrine/contract/related-assets';
import { sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import { recordEdit } from '../../people/audit/record-edit.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { lockEditable } from './edit.ts';
import { relate, unrelate } from './relate.ts';
import { relationsOf } from './related-ids.ts';
import { type AssetRow, assetColumns, assetJoins, showRow } from './show.ts';

/** `GET /assets/{id}/related` (RELATED-1). */
export const list = handle(listRelatedAssets, async ({ db, ladder }, { caller, params: { id }, query }) => {
  const found = await sql`select from assets a where a.id = ${id} and ${shownAssets(caller)}`.execute(db);
  if (found.rows.length === 0) throw notFound();
  const page = newestFirst(query, 'r.created_at', 'a.id');
  const { rows } = await sql<AssetRow & { related_at: string }>`
    select ${assetColumns(caller, ladder, sql`true`)}, r.created_at as related_at
    from ${relationsOf(id)} r join assets a on a.id = r.id ${assetJoins}
    where ${shownAssets(caller)} and ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.related_at, id: row.asset_id }));
  const items = cut.rows.map((row) => showRow(caller, row)).filter((asset) => !asset.restricted);
  return { status: 200, body: { items, next_cursor: cut.next } };
});

async function checkRoom(tx: Tx, id: string): Promise<void> {
  const { rows } = await sql<{ size: number }>`
    select count(*) as size from ${relationsOf(id)} r`.execute(tx);
  if ((rows[0]?.size ?? 0) > mostRelated) throw refuse('related-full', { max: mostRelated });
}

async function recordRelation(
  tx: Tx,
  caller: SignedIn,
  { id, owner }: { id: string; owner: number | null },
  related: string,
): Promise<void> {
  const change = { related };
  await recordEdit(tx, caller, { kind: 'asset', id, owner }, change);
}

/** `PUT /assets/{id}/related/{other}` (RELATED-2). */
export const add = handle(addRelatedAsset, async ({ db }, { caller, params: { id, other } }) => {
  if (id === other) throw refuse('related-to-itself');
  await db.transaction().execute(async (tx) => {
    const asset = await lockEditable(tx, caller, id);
    const { rows } = await sql`select from assets a
      where a.id = ${other} and ${shownAssets(caller)} for key share of a`.execute(tx);
    if (rows.length === 0) throw notFound();
    if (!(await relate(tx, id, other))) return;
    await checkRoom(tx, id);
    await recordRelation(tx, caller, asset, other);
  });
  return { status: 204 };
});

/** `DELETE /assets/{id}/related/{other}` (RELATED-3). */
export const remove = handle(removeRelatedAsset, async ({ db }, { caller, params: { id, other } }) => {
  await db.transaction().execute(async (tx) => {
    const asset = await lockEditable(tx, caller, id);
    if (await unrelate(tx, id, other)) await recordRelation(tx, caller, asset, other);
  });
  return { status: 204 };
});
