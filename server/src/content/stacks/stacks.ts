import { createStack, deleteStack, getStack, setStackTop } from '@vitrine/contract/stacks';
import { sql } from 'kysely';
import { editableAssets, readableAssets, shownAssets } from '../../access/assets.ts';
import type { Caller, SignedIn } from '../../access/caller.ts';
import { editsStack } from '../../access/stacks.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { recordEdits } from '../../people/audit/record-edit.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { type AssetRow, assetColumns, assetJoins, showRow } from '../assets/show.ts';
import { lockStack, type OwnedAsset, stackAssets } from './store.ts';

interface Locked extends OwnedAsset {
  editable: boolean;
}

/** Returns the assets of a stack that the caller is shown. Throws a 404 if there are none. */
async function showStack(db: Database, { ladder }: Pick<Deps, 'ladder'>, caller: Caller, id: string) {
  const { rows } = await sql<AssetRow>`select ${assetColumns(caller, ladder, sql`true`)}
    from stacked_assets own join assets a on a.id = own.asset_id ${assetJoins}
    where own.stack_id = ${id} and ${shownAssets(caller)} order by own.place, own.asset_id`.execute(db);
  const items = rows.map((row) => showRow(caller, row)).filter((asset) => !asset.restricted);
  if (items.length === 0) throw notFound();
  return { id, items };
}

/** Records the change in the history of the assets. */
async function record(tx: Tx, caller: SignedIn, assets: readonly OwnedAsset[]): Promise<void> {
  const properties = ['stack'];
  const edited = assets.map(({ id, owner }) => ({ kind: 'asset' as const, id, owner, properties }));
  await recordEdits(tx, caller, edited, properties);
}

/** Locks assets that the caller may edit, in the order of their ids, so that concurrent changes cannot deadlock. */
async function lockAll(tx: Tx, caller: SignedIn, ids: readonly string[]): Promise<Locked[]> {
  const { rows } = await sql<Locked>`
    select a.id, a.owner_user_ref as owner, (${editableAssets(caller)}) is true as editable
    from assets a where a.id = any(${[...ids]}::uuid[]) and ${readableAssets(caller)}
    order by a.id for no key update of a`.execute(tx);
  if (rows.length < ids.length) throw notFound();
  if (rows.some(({ editable }) => !editable)) throw refuse('not-owner');
  return rows;
}

/** `GET /stacks/{id}` (STACK-2). */
export const get = handle(getStack, async (deps, { caller, params }) => ({
  status: 200,
  body: await showStack(deps.db, deps, caller, params.id),
}));

/** `POST /stacks` (STACK-1, STACK-4). */
export const create = handle(createStack, async (deps, { caller, body }) => {
  const ids = body.asset_ids;
  if (new Set(ids).size < ids.length) throw refuse('given-twice', { property: 'asset_ids' });
  const stack = await deps.db.transaction().execute(async (tx) => {
    const assets = await lockAll(tx, caller, ids);
    if (new Set(assets.map(({ owner }) => owner)).size > 1) throw refuse('stack-of-several-owners');
    const { id, unstacked } = await stackAssets(tx, ids);
    await record(tx, caller, [...assets, ...unstacked]);
    // Before another request can stack the same assets.
    return showStack(tx, deps, caller, id);
  });
  return { status: 201, body: stack };
});

/** `PUT /stacks/{id}/top` (STACK-4). */
export const setTop = handle(setStackTop, async (deps, { caller, params: { id }, body: { asset_id } }) => {
  const stack = await deps.db.transaction().execute(async (tx) => {
    const assets = await lockAll(tx, caller, [asset_id]);
    await lockStack(tx, id);
    const { rows } = await sql<{ is_top: boolean }>`select not exists (
        select from stacked_assets above where above.stack_id = own.stack_id
          and (above.place, above.asset_id) < (own.place, own.asset_id)) as is_top
      from stacked_assets own where own.asset_id = ${asset_id} and own.stack_id = ${id}`.execute(tx);
    const [found] = rows;
    if (found === undefined) throw notFound();
    if (!found.is_top) {
      await sql`update stacked_assets set place = (select min(place) - 1 from stacked_assets where stack_id = ${id})
        where asset_id = ${asset_id} and stack_id = ${id}`.execute(tx);
      await record(tx, caller, assets);
    }
    return showStack(tx, deps, caller, id);
  });
  return { status: 200, body: stack };
});

async function isShown(db: Database, caller: Caller, id: string): Promise<boolean> {
  const { rows } = await sql`select from stacked_assets own join assets a on a.id = own.asset_id
    where own.stack_id = ${id} and ${shownAssets(caller)} limit 1`.execute(db);
  return rows.length > 0;
}

/** `DELETE /stacks/{id}` (STACK-5). */
export const remove = handle(deleteStack, async ({ db }, { caller, params: { id } }) => {
  await db.transaction().execute(async (tx) => {
    await lockStack(tx, id);
    if (!(await isShown(tx, caller, id))) throw notFound();
    const { rows } = await sql<{ editable: boolean }>`select ${editsStack(caller, id)} as editable`.execute(
      tx,
    );
    if (rows[0]?.editable !== true) throw refuse('not-owner');
    const { rows: ended } = await sql<OwnedAsset>`
      delete from stacked_assets own using assets a where own.stack_id = ${id} and a.id = own.asset_id
      returning a.id, a.owner_user_ref as owner`.execute(tx);
    await record(tx, caller, ended);
  });
  return { status: 204 };
});
