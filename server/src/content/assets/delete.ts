import { deleteAsset } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { notifyPeers } from '../../core/outbox/enqueue.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { lockEditable } from './edit.ts';

/**
 * Moves an asset to the trash, with deleter and reason. It leaves posts immediately, and avatars that show it are
 * cleared.
 */
export const remove = handle(deleteAsset, async ({ db }, { caller, params, body }) => {
  await db.transaction().execute(async (tx) => {
    const asset = await lockEditable(tx, caller, params.id);
    await tx
      .updateTable('assets')
      .set({ deleted_at: sql`now()`, deleted_reason: body?.reason ?? null, deleted_by_user_ref: caller.ref })
      .where('id', '=', asset.id)
      .execute();
    await tx
      .updateTable('users')
      .set({ avatar_asset_id: null })
      .where('avatar_asset_id', '=', asset.id)
      .execute();
    await notifyPeers(tx, { activity: 'update', kind: 'asset', objectId: asset.id, actorRef: caller.ref });
    await recordEvent(tx, caller, {
      event: 'asset.deleted',
      target: { kind: 'asset', id: asset.id },
      metadata: { reason: body?.reason ?? null },
    });
  });
  return { status: 204 };
});
