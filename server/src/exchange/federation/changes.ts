import { closed } from '@vitrine/contract/values';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { commentsForPeers } from '../../access/annotations.ts';
import { type PeerCaller, postsGivenTo, shareInForce } from '../../access/federation.ts';
import type { Deps } from '../../core/deps.ts';
import { notifyPeerOfCollection, wakeDelivery } from '../../core/outbox/enqueue.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { requireInstall } from './identity.ts';
import { Rejection } from './protocol/rejection.ts';

/** Maximum number of changes, shares or ids in one request. */
export const MOST_CHANGES = 500;

const Uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const changesQuery = compileLater(
  closed({
    after: Type.String({ pattern: '^[0-9]{1,15}$' }),
    id: Type.Optional(Type.String({ maxLength: 500 })),
  }),
);
const sharesQuery = compileLater(closed({ after: Type.Optional(Uuid) }));
const resendBody = compileLater(
  Type.Union([
    closed({ ids: Type.Array(Type.String({ maxLength: 500 }), { maxItems: MOST_CHANGES }) }),
    closed({ all: Type.Literal(true) }),
  ]),
);

/** A change that was sent or is due to a peer. */
interface Change {
  seq: number;
  /** The address of its activity. */
  id: string;
}

/** Shares in force that the peer was told of: others may name objects that it must not learn of (FED-79). */
const announcedShare = sql<boolean>`(${shareInForce} and exists (select from federation_announced an
  where an.peer_id = s.peer_id and an.kind = s.kind and an.object_id = s.object_id))`;

/**
 * Lists the changes for a peer after the last one that it knows, oldest first, for a peer that was away or was restored
 * from a backup (FED-78), and how many shares are in force. `reset`: we do not know the peer's last change, so it must
 * read everything again and continue from `latest`. Omits pending changes and those after them.
 */
export async function listChanges(deps: Deps, { peerId }: PeerCaller, query: unknown) {
  if (!changesQuery().Check(query)) throw new Rejection('malformed', 'the query is not that of changes');
  const install = await requireInstall(deps);
  const after = Number(query.after);
  const id = sql<string>`${`${install.url}/activities/`} || activity_id`;
  const settled = sql`peer_id = ${peerId} and status in ('sent', 'failed')`;
  const { rows: positions } = await sql<Change>`select seq, ${id} as id from federation_outbox
    where ${settled} and seq = ${after}`.execute(deps.db);
  const { rows: last } = await sql<Change>`select seq, ${id} as id from federation_outbox
    where ${settled} order by seq desc limit 1`.execute(deps.db);
  const { rows: counted } = await sql<{ shares: number }>`select count(*) as shares from federation_shares s
    where s.peer_id = ${peerId} and ${announcedShare}`.execute(deps.db);
  const state = { latest: last[0] ?? null, shares: counted[0]?.shares ?? 0 };
  if (after > 0 && positions[0]?.id !== query.id) return { reset: true, ...state, changes: [] };
  const { rows: changes } = await sql<Change>`select seq, ${id} as id from federation_outbox
    where ${settled} and seq > ${after} and seq < coalesce((select min(w.seq) from federation_outbox w
      where w.peer_id = ${peerId} and w.status = 'queued'), 9223372036854775807)
    order by seq limit ${MOST_CHANGES}`.execute(deps.db);
  return { reset: false, ...state, changes };
}

/** Lists the shares in force with a peer, by their id, so that the peer can drop those that are not among them. */
export async function listSharesOf(deps: Deps, { peerId }: PeerCaller, query: unknown) {
  if (!sharesQuery().Check(query)) throw new Rejection('malformed', 'the query is not that of shares');
  const install = await requireInstall(deps);
  const { rows: shares } = await sql<{ id: string; object: string; target: string | null }>`
    select s.id, ${`${install.url}/`} || s.kind || 's/' || s.object_id as object, coalesce(s.target_actor, s.target_team) as target
    from federation_shares s where s.peer_id = ${peerId} and ${announcedShare}
      and s.id > ${query.after ?? '00000000-0000-0000-0000-000000000000'} order by s.id limit ${MOST_CHANGES}`.execute(
    deps.db,
  );
  return { shares };
}

/** Queues all content shared with the peer, and the comments on it that the peer has not written. */
async function sendAll(tx: Tx, peer: PeerCaller, url: string): Promise<void> {
  const { peerId } = peer;
  await sql`insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref, details)
    select s.peer_id, x.activity, s.kind, s.object_id, s.granted_by_user_ref,
      case when x.activity = 'share' then jsonb_strip_nulls(jsonb_build_object('object_kind', s.kind,
        'object', ${`${url}/`} || s.kind || 's/' || s.object_id, 'target_peer', pe.instance_url,
        'target_user', s.target_actor, 'target_team', s.target_team, 'scope', s.scope)) else '{}' end
    from federation_shares s join federation_peers pe on pe.id = s.peer_id
      cross join unnest(array['share', 'create']) with ordinality x (activity, place)
    where s.peer_id = ${peerId} and ${shareInForce} order by s.granted_at, s.id, x.place`.execute(tx);
  const rows = await tx
    .selectFrom('federation_shares as s')
    .select(['s.object_id', 's.granted_by_user_ref as by'])
    .where('s.peer_id', '=', peerId)
    .where('s.kind', '=', 'collection')
    .where(shareInForce)
    .execute();
  for (const { object_id, by } of rows) await notifyPeerOfCollection(tx, peerId, object_id, by);
  await sql`insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref)
    select ${peerId}, 'create', 'comment', c.id, coalesce(c.author_user_ref, p.author_user_ref)
    from comments c join posts p on p.id = c.post_id left join remote_actors ra on ra.ref = c.remote_actor_ref
    where ${postsGivenTo(peer)} and ${commentsForPeers} and (c.author_user_ref is not null or ra.peer_id <> ${peerId})
    order by c.created_at, c.id`.execute(tx);
}

/** Throws 429 if the peer has had everything sent again a moment ago (FED-95). */
async function spendResend(tx: Tx, { peerId }: PeerCaller, seconds: number): Promise<void> {
  const rows = await tx
    .updateTable('federation_peers')
    .set({ resent_at: sql<string>`now()` })
    .where('id', '=', peerId)
    .where((eb) =>
      eb.or([
        eb('resent_at', 'is', null),
        eb('resent_at', '<=', sql<string>`now() - make_interval(secs => ${seconds})`),
      ]),
    )
    .returning('id')
    .execute();
  if (rows.length > 0) return;
  throw refuse('resent-recently', {}, { 'retry-after': String(seconds) });
}

/**
 * Requeues the changes that the peer lacks, or all shared content. Changes are rendered from the current
 * state, so withdrawn content is not sent (FED-78).
 */
export async function resendChanges(
  deps: Deps,
  peer: PeerCaller,
  body: unknown,
): Promise<{ status: 'queued' }> {
  if (!resendBody().Check(body)) throw new Rejection('malformed', 'neither a list of ids nor everything');
  const install = await requireInstall(deps);
  const prefix = `${install.url}/activities/`;
  await deps.db.transaction().execute(async (tx) => {
    if ('all' in body) {
      await spendResend(tx, peer, deps.config.federation.resendSeconds);
      await sendAll(tx, peer, install.url);
    } else {
      await sql`update federation_outbox set status = 'queued', attempts = 0, envelope = null, preludes = '{}',
          created_at = now(), next_attempt_at = now()
        where peer_id = ${peer.peerId} and status in ('sent', 'failed')
          and ${prefix}::text || activity_id = any(${body.ids}::text[])`.execute(tx);
    }
    await wakeDelivery(tx, [peer.peerId]);
  });
  return { status: 'queued' };
}
