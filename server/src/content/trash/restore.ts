import { restoreAsset, restoreCollection, restorePost } from '@vitrine/contract/trash';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { trashed } from '../../access/live.ts';
import { checkMayRestore } from '../../access/trash.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeers, notifyPeersOfVisibility, returnCollection } from '../../core/outbox/enqueue.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { checkQuota } from '../../people/quotas/check.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { followContent, postsWith } from '../approvals/post-content.ts';
import { lockRestoreRequests, recordDecision } from './record-decision.ts';

type Kind = 'post' | 'asset' | 'collection';

const tables = {
  post: sql.table('posts'),
  asset: sql.table('assets'),
  collection: sql.table('collections'),
};

/** Throws a 413 if the owner exceeds a quota with this asset, which counts again (QUOTA-2). */
async function checkQuotaOfOwner(tx: Tx, caller: SignedIn, assetId: string): Promise<void> {
  const { rows } = await sql<{ owner: number | null }>`
    select owner_user_ref as owner from assets where id = ${assetId}`.execute(tx);
  const owner = rows[0]?.owner ?? null;
  if (owner === null) return;
  await checkQuota(tx, owner, owner === caller.ref ? 'quota-exceeded' : 'owner-quota-exceeded');
}

/**
 * Restores a deleted thing (TRASH-2, TRASH-3): 404 when it is live or missing, 403 when someone else deleted it, 413 when
 * an asset exceeds a quota. Clears `deleted_by_user_ref`: a live row has no deleter.
 */
export async function restoreThing(tx: Tx, caller: SignedIn, kind: Kind, id: string): Promise<void> {
  const { rows } = await sql<{ deleted_by_user_ref: number | null }>`
    select x.deleted_by_user_ref from ${tables[kind]} x where x.id = ${id} and ${trashed('x')}
    for update`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  checkMayRestore(caller, row.deleted_by_user_ref);
  await sql`update ${tables[kind]} set deleted_at = null, deleted_reason = null, deleted_by_user_ref = null
    where id = ${id}`.execute(tx);
  if (kind === 'asset') {
    await checkQuotaOfOwner(tx, caller, id);
    await followContent(tx, caller, postsWith([id]));
  }
  if (kind === 'collection') await returnCollection(tx, id, 'create', caller.ref);
  else if (kind === 'post')
    await notifyPeersOfVisibility(tx, id, { activity: 'create', actorRef: caller.ref });
  else await notifyPeers(tx, { activity: 'create', kind, objectId: id, actorRef: caller.ref });
  await recordEvent(tx, caller, { event: `admin.${kind}.restored`, target: { kind, id } });
}

/**
 * REQUEST-18: restoring a thing also grants the pending requests for it, because everyone who may restore it may decide
 * them. A request left pending would block another one after the next delete.
 */
export async function restoreAsked(tx: Tx, caller: SignedIn, kind: Kind, id: string): Promise<void> {
  const appeals = await lockRestoreRequests(tx, kind, id);
  await restoreThing(tx, caller, kind, id);
  for (const appeal of appeals) await recordDecision(tx, caller, appeal, 'granted', null);
}

export const restoreDeletedPost = handle(restorePost, async ({ db }, { caller, params }) => {
  await db.transaction().execute((tx) => restoreAsked(tx, caller, 'post', params.id));
  return { status: 204 };
});

export const restoreDeletedAsset = handle(restoreAsset, async ({ db }, { caller, params }) => {
  await db.transaction().execute((tx) => restoreAsked(tx, caller, 'asset', params.id));
  return { status: 204 };
});

export const restoreDeletedCollection = handle(restoreCollection, async ({ db }, { caller, params }) => {
  await db.transaction().execute((tx) => restoreAsked(tx, caller, 'collection', params.id));
  return { status: 204 };
});
