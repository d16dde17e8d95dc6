import { deleteAsset } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeers } from '../../core/outbox/enqueue.ts';
import { recordEvents } from '../../people/audit/record.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { followContent, postsWith } from '../approvals/post-content.ts';
import { lockEditable } from './edit.ts';

/**
 * Moves locked assets to the trash, with deleter and reason. They leave posts immediately, and avatars that show them are
 * cleared. The caller of this function notifies peers.
 */
export async function moveToTrash(
  tx: Tx,
  caller: SignedIn,
  ids: readonly string[],
  reason: string | null,
): Promise<void> {
  await tx
    .updateTable('assets')
    .set({ deleted_at: sql`now()`, deleted_reason: reason, deleted_by_user_ref: caller.ref })
    .where('id', 'in', ids)
    .execute();
  await followContent(tx, caller, postsWith(ids));
  const events = ids.map((id) => ({
    event: 'asset.deleted',
    target: { kind: 'asset' as const, id },
    metadata: { reason },
  }));
  await recordEvents(tx, caller, events);
}

/** `DELETE /assets/{id}`. */
export const remove = handle(deleteAsset, async ({ db }, { caller, params, body }) => {
  await db.transaction().execute(async (tx) => {
    const asset = await lockEditable(tx, caller, params.id);
    await moveToTrash(tx, caller, [asset.id], body?.reason ?? null);
    await notifyPeers(tx, { activity: 'update', kind: 'asset', objectId: asset.id, actorRef: caller.ref });
  });
  return { status: 204 };
});
