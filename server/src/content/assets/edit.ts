import { type AssetFields, type AssetUpdate, updateAsset } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { editableAssets, readableAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeers, notifyPeersOfMembers } from '../../core/outbox/enqueue.ts';
import { readSwitches } from '../../core/settings.ts';
import { registerTags } from '../../core/tag-register.ts';
import { recordEdit } from '../../people/audit/record-edit.ts';
import { checkAssignable } from '../../people/teams/assignable.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { patchOf } from '../../platform/http/patch.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { asksForChange, checkUnchanged, nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { showAsset } from './show.ts';

/** Checks the properties of an asset that depend on the database (ASSET-17); throws a 400 that names the faulty one. */
export async function checkFields(tx: Tx, caller: SignedIn, fields: AssetFields): Promise<void> {
  if (fields.mature === true && !(await readSwitches(tx)).matureAllowed) {
    throw refuse('mature-content-not-allowed');
  }
  if (fields.team_id != null) await checkAssignable(tx, caller, fields.team_id);
  if (fields.asset_type !== undefined) {
    const known = await tx
      .selectFrom('asset_types')
      .where('ref', '=', fields.asset_type)
      .select('ref')
      .execute();
    if (known.length === 0) throw refuse('asset-type-unknown', { value: fields.asset_type });
  }
}

/** An asset's row, read under its lock. */
interface LockedAsset {
  id: string;
  updated_at: string;
  owner: number | null;
}

/** Locks an asset the caller may change: 404 when they may not read it, 403 when they may only read it. */
export async function lockEditable(tx: Tx, caller: SignedIn, id: string): Promise<LockedAsset> {
  const { rows } = await sql<LockedAsset & { editable: boolean }>`
    select a.id, a.updated_at, a.owner_user_ref as owner, ${editableAssets(caller)} as editable
    from assets a where a.id = ${id} and ${readableAssets(caller)} for no key update of a`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  if (!row.editable) throw refuse('not-owner');
  return row;
}

/** The set of tags after the edit. What stays keeps its source; what is new was written by hand (ASSET-20). */
async function replaceTags(tx: Tx, assetId: string, tags: readonly string[]): Promise<void> {
  const values = await registerTags(tx, tags);
  await sql`delete from asset_tags where asset_id = ${assetId} and value <> all(${values}::text[])`.execute(
    tx,
  );
  await sql`insert into asset_tags (asset_id, value, source, position)
    select ${assetId}, t.value, 'manual', t.place - 1
    from unnest(${values}::text[]) with ordinality as t (value, place)
    on conflict (asset_id, value) do update set position = excluded.position`.execute(tx);
}

function changesOf(body: AssetUpdate) {
  const { metadata, ...columns } = patchOf(body, [
    'title',
    'description',
    'asset_type',
    'status',
    'sensitivity',
    'mature',
    'ai_provenance',
    'metadata',
  ]);
  return { ...columns, ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }) };
}

/** `PATCH /assets/{id}`: absent and null change nothing; the team cannot be changed (HTTP-17, ASSET-18). */
export const edit = handle(updateAsset, async ({ db, ladder }, { caller, params, body }) => {
  const changes = changesOf(body);
  await db.transaction().execute(async (tx) => {
    const asset = await lockEditable(tx, caller, params.id);
    checkUnchanged(body.if_unchanged_since, asset.updated_at);
    await checkFields(tx, caller, patchOf(body, ['mature', 'asset_type']));
    if (!asksForChange(body)) return;
    await tx
      .updateTable('assets')
      .set({ ...changes, updated_at: nextUpdatedAt })
      .where('id', '=', asset.id)
      .execute();
    if (body.tags != null) await replaceTags(tx, asset.id, body.tags);
    await notifyPeers(tx, { activity: 'update', kind: 'asset', objectId: asset.id, actorRef: caller.ref });
    if (body.sensitivity != null || body.mature != null)
      await notifyPeersOfMembers(tx, [asset.id], caller.ref);
    await recordEdit(tx, caller, { kind: 'asset', id: asset.id, owner: asset.owner }, body);
  });
  const shown = await showAsset(db, caller, ladder, params.id);
  if (shown === null || shown.restricted) throw notFound();
  return { status: 200, body: shown };
});
