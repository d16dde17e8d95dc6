import type { PeerShare, PeerShareCreate } from '@vitrine/contract/federation';
import * as contract from '@vitrine/contract/federation';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { federablePost, includesEncrypted, shareInForce } from '../../../access/federation.ts';
import { lockTarget } from '../../../content/links/create.ts';
import type { Deps } from '../../../core/deps.ts';
import { handle } from '../../../core/handle.ts';
import {
  keepCollectionAtEnd,
  keepFederationAt,
  notifyPeer,
  notifyPeerOfCollection,
  notifyPeersOfComments,
} from '../../../core/outbox/enqueue.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { checkInFuture } from '../../../platform/http/moments.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { ownSpellingOf, resolveActor } from '../actors.ts';
import { type Install, requireInstall } from '../identity.ts';
import { objectUri } from '../protocol/addresses.ts';
import { Rejection } from '../protocol/rejection.ts';
import { readSensitiveContent } from '../settings.ts';
import { confirmSensitive, readContents } from './sensitive.ts';
import { teamAt } from './team.ts';

type Kind = 'post' | 'asset' | 'collection';
const collections = { post: 'posts', asset: 'assets', collection: 'collections' } as const;

interface ConnectedPeer {
  id: string;
  display_name: string;
  instance_url: string;
}

interface SharingPeer extends ConnectedPeer {
  capabilities: string[];
}

/** Returns a peer that objects can be shared with, or throws 404. */
async function connectedPeer(db: Database, id: string): Promise<SharingPeer> {
  const row = await db
    .selectFrom('federation_peers')
    .select(['id', 'display_name', 'instance_url', 'capabilities'])
    .where('id', '=', id)
    .where('state', '=', 'connected')
    .executeTakeFirst();
  if (row === undefined) throw notFound();
  return row;
}

const shareColumns = sql`s.id, s.target_actor as person,
  case when s.target_team is not null then json_build_object('address', s.target_team, 'name', s.target_team_name) end as team, s.scope, s.expires_at, s.granted_by_user_ref,
  s.granted_at, ${includesEncrypted} as encrypted, not exists (select from federation_outbox o where o.peer_id = s.peer_id and o.object_id = s.object_id
    and o.status in ('queued', 'failed')) as delivered`;

/** Returns the active shares of an object by peer, for its editors. */
async function readShares(
  db: Database,
  kind: Kind,
  id: string,
  only: RawBuilder<unknown> = sql``,
): Promise<{ peer: ConnectedPeer; shares: PeerShare[] }[]> {
  const { rows } = await sql<PeerShare & { peer_id: string; display_name: string; instance_url: string }>`
    select ${shareColumns}, s.peer_id, pe.display_name, pe.instance_url
    from federation_shares s join federation_peers pe on pe.id = s.peer_id
    where s.kind = ${kind} and s.object_id = ${id} and ${shareInForce} ${only}
    order by lower(pe.display_name), pe.id, s.target_actor nulls first, s.target_team nulls first`.execute(
    db,
  );
  const byPeer = Map.groupBy(rows, ({ peer_id }) => peer_id);
  return [...byPeer].map(([peerId, shares]) => ({
    peer: {
      id: peerId,
      display_name: shares[0]?.display_name ?? '',
      instance_url: shares[0]?.instance_url ?? '',
    },
    shares: shares.map(({ peer_id, display_name, instance_url, ...share }) => share),
  }));
}

/** Throws 409 for objects that cannot be shared with peers: drafts, and objects that a peer shared. */
async function checkFederable(tx: Tx, kind: Kind, id: string): Promise<void> {
  const table = sql.table(collections[kind]);
  const rule = kind === 'post' ? federablePost : sql`(p.origin_peer_id is null)`;
  const { rows } = await sql<{
    federable: boolean;
  }>`select ${rule} as federable from ${table} p where p.id = ${id}`.execute(tx);
  if (rows[0]?.federable !== true) {
    throw refuse(kind === 'post' ? 'post-not-shareable' : 'from-other-library');
  }
}

/** Returns the address of a person at the peer, who must exist; null for everyone there. */
async function personAt(
  deps: Deps,
  install: Install,
  peer: ConnectedPeer,
  person: string | null,
): Promise<string | null> {
  if (person === null) return null;
  const uri = person.includes('/')
    ? person
    : `${peer.instance_url}/users/${encodeURIComponent(person.replace(/^@/, ''))}`;
  try {
    const known = { peerId: peer.id, url: peer.instance_url };
    const actor = await resolveActor(deps, install, known, await ownSpellingOf(deps, install, known, uri));
    return actor.uri;
  } catch (error) {
    if (error instanceof Rejection) throw refuse('peer-person-not-found', { peer: peer.display_name });
    throw error;
  }
}

interface ShareTerms {
  kind: Kind;
  id: string;
  peerId: string;
  body: PeerShareCreate;
}

/**
 * Shares an object with a peer or a person there, or changes the terms; records the change for the peer in the same
 * transaction.
 */
async function putShare(deps: Deps, caller: SignedIn, { kind, id, peerId, body }: ShareTerms) {
  const install = await requireInstall(deps);
  const peer = await connectedPeer(deps.db, peerId);
  checkInFuture('expires_at', body.expires_at ?? null);
  if (body.person != null && body.team != null)
    throw refuse('exclusive-properties', { property: 'person', other: 'team' });
  const person = await personAt(deps, install, peer, body.person ?? null);
  const team = body.team == null ? null : await teamAt(deps, install, peer, body.team);
  const confirm = body.confirm_sensitive ?? null;
  const sensitive = await confirmSensitive(deps, caller, install, { kind, id, peer, person, confirm });
  return deps.db.transaction().execute(async (tx) => {
    await lockTarget[kind](tx, caller, id);
    await checkFederable(tx, kind, id);
    const scope = body.scope ?? 'view';
    const { rows } = await sql<{ id: string; created: boolean }>`
      insert into federation_shares (kind, object_id, peer_id, target_actor, target_team, target_team_name, scope, granted_by_user_ref, expires_at,
        sensitive_assets, sensitive_confirmed_by)
      values (${kind}, ${id}, ${peer.id}, ${person}, ${team?.uri ?? null}, ${team?.name ?? ''}, ${scope}, ${caller.ref}, ${body.expires_at ?? null},
        ${sensitive}::uuid[], ${sensitive.length === 0 ? null : caller.ref}::bigint)
      on conflict (kind, object_id, peer_id, target_actor, target_team) where revoked_at is null
        do update set scope = excluded.scope, target_team_name = excluded.target_team_name, expires_at = excluded.expires_at,
          sensitive_assets = excluded.sensitive_assets, sensitive_confirmed_by = excluded.sensitive_confirmed_by
      returning id, xmax = 0 as created`.execute(tx);
    const share = rows[0];
    if (share === undefined) throw new Error('a share was not stored');
    await recordEvent(tx, caller, {
      event: 'federation.share.granted',
      target: { kind, id },
      metadata: {
        instance_url: peer.instance_url,
        person,
        team: team?.uri ?? null,
        scope,
        expires_at: body.expires_at ?? null,
        encrypted: sensitive,
      },
    });
    const change = { kind, objectId: id, actorRef: caller.ref };
    const details = {
      object_kind: kind,
      object: objectUri(install.url, collections[kind], id),
      target_peer: peer.instance_url,
      ...(person === null ? {} : { target_user: person }),
      ...(team === null ? {} : { target_team: team.uri }),
      scope,
      ...(body.expires_at == null ? {} : { expires_at: body.expires_at }),
    };
    await notifyPeer(tx, peer.id, { ...change, activity: 'share', details });
    await notifyPeer(tx, peer.id, { ...change, activity: 'create' });
    await keepFederationAt(tx, body.expires_at ?? null);
    if (kind === 'collection') {
      await notifyPeerOfCollection(tx, peer.id, id, caller.ref);
      await keepCollectionAtEnd(tx, id);
    }
    if (kind !== 'asset') {
      const given =
        kind === 'post'
          ? sql`select ${id}::uuid as post_id, ${peer.id}::uuid as peer_id`
          : sql`select post_id, ${peer.id}::uuid as peer_id from collection_posts where collection_id = ${id}`;
      await notifyPeersOfComments(tx, given);
    }
    const [shown] = await readShares(tx, kind, id, sql`and s.id = ${share.id}`);
    const [stored] = shown?.shares ?? [];
    if (stored === undefined) throw notFound();
    return { status: share.created ? (201 as const) : (200 as const), body: stored };
  });
}

interface Unwanted {
  kind: Kind;
  id: string;
  peerId: string;
  person?: string | undefined;
  team?: string | undefined;
}

/** Withdraws the shares of an object with a peer, or with one person or team there; throws 404 if there is none. */
async function removeShares(
  deps: Deps,
  caller: SignedIn,
  { kind, id, peerId, person, team }: Unwanted,
): Promise<void> {
  const install = await requireInstall(deps);
  await deps.db.transaction().execute(async (tx) => {
    await lockTarget[kind](tx, caller, id);
    const { rows } = await sql<{
      target_actor: string | null;
      target_team: string | null;
      instance_url: string;
      encrypted: boolean;
    }>`
      update federation_shares s set revoked_at = now() from federation_peers pe
      where pe.id = s.peer_id and s.kind = ${kind} and s.object_id = ${id} and s.peer_id = ${peerId} and s.revoked_at is null
        ${person === undefined ? sql`` : sql`and s.target_actor = ${person}`}
        ${team === undefined ? sql`` : sql`and s.target_team = ${team}`}
      returning s.target_actor, s.target_team, pe.instance_url, cardinality(s.sensitive_assets) > 0 as encrypted`.execute(
      tx,
    );
    if (rows.length === 0) throw notFound();
    for (const { target_actor, target_team, instance_url, encrypted } of rows) {
      await recordEvent(tx, caller, {
        event: 'federation.share.revoked',
        target: { kind, id },
        metadata: { instance_url, person: target_actor, team: target_team },
      });
      await notifyPeer(tx, peerId, {
        activity: 'unshare',
        kind,
        objectId: id,
        actorRef: caller.ref,
        details: {
          object_kind: kind,
          object: objectUri(install.url, collections[kind], id),
          target_peer: instance_url,
          ...(target_actor === null ? {} : { target_user: target_actor }),
          ...(target_team === null ? {} : { target_team }),
        },
      });
      // Others at the peer keep the object, without what was encrypted for this person.
      if (encrypted)
        await notifyPeer(tx, peerId, { activity: 'update', kind, objectId: id, actorRef: caller.ref });
    }
  });
}

async function listShares(deps: Deps, caller: SignedIn, kind: Kind, id: string) {
  return deps.db.transaction().execute(async (tx) => {
    await lockTarget[kind](tx, caller, id);
    const { sensitive } = await readContents(tx, caller, kind, id);
    const items = await readShares(tx, kind, id);
    return {
      status: 200 as const,
      body: { items, sensitive_content: await readSensitiveContent(tx), sensitive },
    };
  });
}

async function getShares(deps: Deps, caller: SignedIn, kind: Kind, id: string, peerId: string) {
  return deps.db.transaction().execute(async (tx) => {
    await lockTarget[kind](tx, caller, id);
    const [shares] = await readShares(tx, kind, id, sql`and s.peer_id = ${peerId}`);
    if (shares === undefined) throw notFound();
    return { status: 200 as const, body: shares };
  });
}

export const ofPost = handle(contract.listPostPeers, (deps, { caller, params }) =>
  listShares(deps, caller, 'post', params.id),
);
export const getOfPost = handle(contract.getPostPeer, (deps, { caller, params }) =>
  getShares(deps, caller, 'post', params.id, params.peer_id),
);
export const putOfPost = handle(contract.putPostPeer, (deps, { caller, params, body }) =>
  putShare(deps, caller, { kind: 'post', id: params.id, peerId: params.peer_id, body: body ?? {} }),
);
export const removeOfPost = handle(contract.deletePostPeer, async (deps, { caller, params, query }) => {
  await removeShares(deps, caller, { kind: 'post', id: params.id, peerId: params.peer_id, ...query });
  return { status: 204 };
});

export const ofAsset = handle(contract.listAssetPeers, (deps, { caller, params }) =>
  listShares(deps, caller, 'asset', params.id),
);
export const getOfAsset = handle(contract.getAssetPeer, (deps, { caller, params }) =>
  getShares(deps, caller, 'asset', params.id, params.peer_id),
);
export const putOfAsset = handle(contract.putAssetPeer, (deps, { caller, params, body }) =>
  putShare(deps, caller, { kind: 'asset', id: params.id, peerId: params.peer_id, body: body ?? {} }),
);
export const removeOfAsset = handle(contract.deleteAssetPeer, async (deps, { caller, params, query }) => {
  await removeShares(deps, caller, { kind: 'asset', id: params.id, peerId: params.peer_id, ...query });
  return { status: 204 };
});

export const ofCollection = handle(contract.listCollectionPeers, (deps, { caller, params }) =>
  listShares(deps, caller, 'collection', params.id),
);
export const getOfCollection = handle(contract.getCollectionPeer, (deps, { caller, params }) =>
  getShares(deps, caller, 'collection', params.id, params.peer_id),
);
export const putOfCollection = handle(contract.putCollectionPeer, (deps, { caller, params, body }) =>
  putShare(deps, caller, { kind: 'collection', id: params.id, peerId: params.peer_id, body: body ?? {} }),
);
export const removeOfCollection = handle(
  contract.deleteCollectionPeer,
  async (deps, { caller, params, query }) => {
    await removeShares(deps, caller, { kind: 'collection', id: params.id, peerId: params.peer_id, ...query });
    return { status: 204 };
  },
);
