import { foldName } from '@vitrine/contract/names';
import { refreshAssetAudience, refreshGranted } from '../../../access/mirrored-audience.ts';
import { ownTeam } from '../../../access/teams.ts';
import { keepFederationAt } from '../../../core/outbox/enqueue.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { receiveDefinitions } from '../fields/offered.ts';
import type { Install } from '../identity.ts';
import { mirrorAsset } from '../mirror/asset.ts';
import { checkAtPeer, isGranted } from '../mirror/objects.ts';
import { followOwner } from '../mirror/owner.ts';
import { mirrorCollection, mirrorPost } from '../mirror/post.ts';
import { purgeUngranted, removeMirrored } from '../mirror/purge.ts';
import { refreshRecipients } from '../mirror/recipients.ts';
import type { Activity } from '../protocol/activities.ts';
import { parseActorUri, parseObjectUri } from '../protocol/addresses.ts';
import { Rejection } from '../protocol/rejection.ts';
import { applyComment, deleteComment } from './comment.ts';
import { applyLike, applyUnlike } from './like.ts';
import type { Receipt } from './receipt.ts';

const kinds = ['post', 'asset', 'collection'] as const;
type Share = Extract<Activity, { type: 'aa:Share' }>;
type Unshare = Extract<Activity, { type: 'aa:Unshare' }>;

/** Returns the kind of the shared object; throws Rejection for an unsupported kind. */
function sharedKind(uri: string, objectKind: string): 'post' | 'asset' | 'collection' {
  const kind = kinds.find((known) => known === objectKind);
  if (kind === undefined || parseObjectUri(uri) === null)
    throw new Rejection('unsupported_type', `a ${objectKind} is not shared here`);
  return kind;
}

/** The recipient of a share: an account, a team, or everyone in this library. */
interface Target {
  userRef: number | null;
  teamId: string | null;
}

/** Returns the team of this library at an address, locked against changes of its members; throws Rejection. */
async function ownTeamAt(tx: Tx, install: Install, uri: string): Promise<string> {
  const at = parseObjectUri(uri);
  if (at?.base !== install.url) throw new Rejection('unknown_object', 'the team belongs to another install');
  const row = await tx
    .selectFrom('teams as t')
    .select('t.id')
    .where('t.id', '=', at.id)
    .where(ownTeam)
    .forShare()
    .executeTakeFirst();
  if (row === undefined) throw new Rejection('unknown_object', 'there is no such team here');
  return row.id;
}

/**
 * Returns the recipient of a share; throws Rejection if it is not for this library, or its account or team
 * does not exist.
 */
async function targetOf(tx: Tx, { install }: Receipt, share: Share | Unshare): Promise<Target> {
  if (share.target_peer !== install.url)
    throw new Rejection('unknown_object', 'the share is for another install');
  if (share.target_team != null)
    return { userRef: null, teamId: await ownTeamAt(tx, install, share.target_team) };
  if (share.target_user == null) return { userRef: null, teamId: null };
  const person = parseActorUri(share.target_user);
  if (person?.base !== install.url)
    throw new Rejection('unknown_actor', 'the person belongs to another install');
  const row = await tx
    .selectFrom('users')
    .select('ref')
    .where('username_key', '=', foldName(person.username))
    .executeTakeFirst();
  if (row === undefined) throw new Rejection('unknown_actor', 'there is no such person here');
  return { userRef: row.ref, teamId: null };
}

async function applyShare(tx: Tx, receipt: Receipt, share: Share): Promise<void> {
  const { sender } = receipt;
  checkAtPeer(share.object, sender.url);
  const kind = sharedKind(share.object, share.object_kind);
  const { userRef, teamId } = await targetOf(tx, receipt, share);
  const scope = share.scope === 'view' ? 'view' : 'comment';
  await tx
    .insertInto('federation_grants')
    .values({
      peer_id: sender.peerId,
      uri: share.object,
      kind,
      target_user_ref: userRef,
      target_team_id: teamId,
      scope,
      granted_by: receipt.actor.uri,
      expires_at: share.expires_at ?? null,
    })
    .onConflict((conflict) =>
      conflict.columns(['peer_id', 'uri', 'target_user_ref', 'target_team_id']).doUpdateSet((eb) => ({
        scope: eb.ref('excluded.scope'),
        expires_at: eb.ref('excluded.expires_at'),
        granted_by: eb.ref('excluded.granted_by'),
      })),
    )
    .execute();
  await refreshGranted(tx, sender.peerId, kind, share.object);
  await refreshRecipients(tx, share.object);
  await keepFederationAt(tx, share.expires_at ?? null);
  await recordEvent(tx, null, {
    event: 'federation.share.received',
    ...(userRef === null ? {} : { subjectUserRef: userRef }),
    ...(teamId === null ? {} : { target: { kind: 'team', id: teamId } }),
    metadata: { instance_url: sender.url, object: share.object, scope, by: receipt.actor.uri },
  });
}

async function applyUnshare(tx: Tx, receipt: Receipt, share: Unshare): Promise<void> {
  const { sender } = receipt;
  const kind = sharedKind(share.object, share.object_kind);
  const { userRef, teamId } = await targetOf(tx, receipt, share);
  await tx
    .deleteFrom('federation_grants')
    .where('peer_id', '=', sender.peerId)
    .where('uri', '=', share.object)
    .where('target_user_ref', 'is not distinct from', userRef)
    .where('target_team_id', 'is not distinct from', teamId)
    .execute();
  await purgeUngranted(tx, sender.peerId);
  await refreshGranted(tx, sender.peerId, kind, share.object);
  await recordEvent(tx, null, {
    event: 'federation.share.withdrawn',
    ...(userRef === null ? {} : { subjectUserRef: userRef }),
    ...(teamId === null ? {} : { target: { kind: 'team', id: teamId } }),
    metadata: { instance_url: sender.url, object: share.object },
  });
}

/**
 * Applies a change of the peer's own post, asset or collection; throws Rejection unless a share covers it.
 */
async function applyObject(
  tx: Tx,
  receipt: Receipt,
  { object }: Extract<Activity, { type: 'Create' | 'Update' }>,
) {
  const { sender, owner } = receipt;
  if (object.type === 'Note') return applyComment(tx, receipt, object);
  if (object.type === 'aa:FieldDefinitions') return receiveDefinitions(tx, sender.peerId, object);
  if (object.type !== 'aa:Post' && object.type !== 'aa:Asset' && object.type !== 'aa:Collection') {
    throw new Rejection('unsupported_type', `${object.type} is not received here`);
  }
  checkAtPeer(object.id, sender.url);
  const part = await tx
    .selectFrom('federated_objects')
    .select('local_id')
    .where('uri', '=', object.id)
    .where('peer_id', '=', sender.peerId)
    .executeTakeFirst();
  const known = object.type === 'aa:Asset' && part !== undefined;
  if (!known && !(await isGranted(tx, sender.peerId, object.id))) {
    throw new Rejection('unshared_object', 'no share covers the object');
  }
  if (object.type === 'aa:Collection') {
    await mirrorCollection(tx, sender, owner.ref, object);
    await purgeUngranted(tx, sender.peerId);
  } else if (object.type === 'aa:Post') {
    await mirrorPost(tx, sender, owner.ref, object, receipt.recipients);
    await purgeUngranted(tx, sender.peerId);
  } else {
    await mirrorAsset(tx, sender.peerId, owner.ref, object, {
      uri: object.id,
      recipients: receipt.recipients,
    });
    await refreshAssetAudience(tx, sender.peerId, object.id);
  }
  await followOwner(tx, sender.peerId, object, receipt);
}

/** Applies a verified envelope in its transaction. Throws Rejection, which rolls the transaction back. */
export async function apply(tx: Tx, receipt: Receipt, activity: Activity): Promise<void> {
  switch (activity.type) {
    case 'aa:Share':
      return applyShare(tx, receipt, activity);
    case 'aa:Unshare':
      return applyUnshare(tx, receipt, activity);
    case 'Create':
    case 'Update':
      return applyObject(tx, receipt, activity);
    case 'Delete':
      if (await deleteComment(tx, receipt, activity.object)) return;
      checkAtPeer(activity.object, receipt.sender.url);
      return removeMirrored(tx, receipt.sender.peerId, activity.object);
    case 'Like':
      return applyLike(tx, receipt, activity.object);
    case 'Undo':
      return applyUnlike(tx, receipt, activity.object);
    default:
      throw new Rejection('unsupported_type', `${activity.type} is not received here`);
  }
}
