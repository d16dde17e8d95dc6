import { type RawBuilder, sql } from 'kysely';
import { intact } from './assets.ts';
import { accountHolds } from './capabilities.ts';
import { filledByHand } from './collections.ts';
import { passedOn, postsOfCollection } from './links.ts';
import { live, unexpired } from './live.ts';
import { publishedPost, thePost } from './posts.ts';
import { ownTeam } from './teams.ts';
import { openForPeers } from './visibilities.ts';

/**
 * What this library gives to its peers (FED-1): only what an active share covers. Predicates refer to `posts
 * p`, `assets a`, `collections c` and `federation_shares s`.
 */
type Predicate = RawBuilder<boolean>;

/** Another install that has proved its key. Not a `Caller`: no other rule or operation applies to it. */
export interface PeerCaller {
  readonly kind: 'peer';
  readonly peerId: string;
}

/** A share that was neither revoked nor has expired. */
export const shareInForce: Predicate = sql`(s.revoked_at is null and ${unexpired('s')})`;

/** Rows of this origin. Only narrows what the access rules allow. */
export function fromOrigin(alias: string, origin: string): Predicate {
  const column = sql.ref(`${alias}.origin_peer_id`);
  if (origin === 'here') return sql`(${column} is null)`;
  return origin === 'peers' ? sql`(${column} is not null)` : sql`(${column} = ${origin}::uuid)`;
}

/** Rows of this library. Rows of other peers are never passed on. */
function madeHere(alias: string): Predicate {
  return sql`(${sql.ref(alias)}.origin_peer_id is null)`;
}

/**
 * Posts that may be shared with peers: published, created here, and readable by others than their author.
 */
export const federablePost: Predicate = sql`(${publishedPost} and ${madeHere('p')} and ${openForPeers(thePost)})`;

/**
 * Active shares of the post `p`: its own, and those of collections that belong to its author, or of any
 * collection if the post is public.
 */
const sharesOfPost = sql`select s.* from federation_shares s where s.kind = 'post' and s.object_id = p.id and ${shareInForce}
  union all
  select s.* from federation_shares s join collections c on c.id = s.object_id
    join collection_posts lp on lp.collection_id = c.id
  where s.kind = 'collection' and lp.post_id = p.id and ${shareInForce} and c.deleted_at is null and ${filledByHand}
    and ${unexpired('c')} and ${postsOfCollection}`;

/** Assets that are sent only encrypted for a person, and only after someone confirmed it (FED-50). */
export const sensitiveAsset: Predicate = sql`(a.mature or a.sensitivity = 'restricted')`;

/** Sensitive members `a` of a post `p` that its author or team may pass on. */
export const sensitiveMember: Predicate = sql`((a.deleted_at is null and a.status = 'active'
  and ${intact} and ${sensitiveAsset} and a.sensitivity in ('posts', 'public', 'restricted')
  and (a.owner_user_ref = p.author_user_ref or a.team_id = p.team_id)) is true)`;

/**
 * The account with this reference may confirm the sending of the sensitive asset `a`: it manages its shares (ASSET-10,
 * FED-58). Editing a post that contains it is not enough. For the caller, `editableAssets` says the same.
 */
function mayStillConfirm(userRef: RawBuilder<unknown>): Predicate {
  return sql`((a.owner_user_ref = ${userRef} or ${accountHolds(userRef, 'assets.admin', sql`a.team_id`)}) is true)`;
}

/** The asset `a` was confirmed with a share, by an account that may still do so (FED-58). */
export function confirmedWith(share: 's' | 'c'): Predicate {
  const row = (column: string) => sql.ref(`${share}.${column}`);
  return sql`(a.id = any(${row('sensitive_assets')}) and ${mayStillConfirm(row('sensitive_confirmed_by'))})`;
}

/** Shares `s` that include sensitive content: some of what was confirmed is still covered. */
export const includesEncrypted: Predicate = sql`(cardinality(s.sensitive_assets) > 0
  and exists (select from assets a where ${confirmedWith('s')}))`;

/** Active shares `s` with a person at a peer that can decrypt, for whom sensitive content was confirmed. */
const confirmedShare: Predicate = sql`(${shareInForce} and s.target_actor is not null and ${includesEncrypted}
  and exists (select from federation_peers pe where pe.id = s.peer_id
    and pe.capabilities @> array['encryption-nacl-box-v1', 'encrypted-bytes-v1']))`;

/**
 * Returns the shares of an object whose recipients at the peer get its encrypted content, as rows of
 * `federation_shares s`.
 */
export function confirmedShares(
  { peerId }: PeerCaller,
  kind: 'post' | 'asset',
  id: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`select s.* from federation_shares s
    where s.kind = ${kind} and s.object_id = ${id} and s.peer_id = ${peerId} and ${confirmedShare}`;
}

/**
 * Sensitive members `a` of a post `p` that go to the peer, encrypted: those that were confirmed for every person there
 * who gets encrypted content of the post, since all of them get the same.
 */
export function membersGivenEncrypted(peer: PeerCaller): Predicate {
  const confirmed = confirmedShares(peer, 'post', sql`p.id`);
  return sql`(${sensitiveMember} and exists (select from (${confirmed}) c)
    and not exists (select from (${confirmed}) c where not ${confirmedWith('c')}))`;
}

/** Assets that go to the peer encrypted, by themselves or as members of a post, and their bytes. */
export function assetsGivenEncrypted(peer: PeerCaller): Predicate {
  return sql`(${madeHere('a')} and ${live('a')} and a.status = 'active' and ${intact} and ${sensitiveAsset} and (
    exists (select from (${confirmedShares(peer, 'asset', sql`a.id`)}) c where ${confirmedWith('c')})
    or exists (select from post_members m join posts p on p.id = m.post_id
      where m.asset_id = a.id and ${postsGivenTo(peer)} and ${membersGivenEncrypted(peer)})))`;
}

/** Posts that the peer is given. */
export function postsGivenTo({ peerId }: PeerCaller): Predicate {
  return sql`(${federablePost} and exists (select from (${sharesOfPost}) given where given.peer_id = ${peerId}))`;
}

/** Posts whose comments and likes by people here go to the peer: its own, and those that it is given. */
export function postsDiscussedWith(peer: PeerCaller): Predicate {
  return sql`(p.origin_peer_id = ${peer.peerId} or ${postsGivenTo(peer)})`;
}

/** Assets that the peer is given plainly by themselves. Mature and restricted ones never are. */
function assetsGivenAlone({ peerId }: PeerCaller): Predicate {
  return sql`(${live('a')} and ${madeHere('a')} and a.status = 'active' and ${intact} and exists (select from federation_shares s
    where s.kind = 'asset' and s.object_id = a.id and s.peer_id = ${peerId} and ${shareInForce}
      and not ${sensitiveAsset}))`;
}

/** Assets whose columns and bytes the peer is given plainly. */
export function assetsGivenTo(peer: PeerCaller): Predicate {
  return sql`(${assetsGivenAlone(peer)} or (${madeHere('a')} and exists (select from post_members m
    join posts p on p.id = m.post_id where m.asset_id = a.id and ${postsGivenTo(peer)} and ${passedOn})))`;
}

/**
 * Fields `d` whose definitions and values peers are given: those that everyone who sees the subject may read. A
 * mirrored column has no value of its own.
 */
export const fieldsGiven: Predicate = sql`(d.status <> 'archived' and d.read_capability is null and d.mirrors_column is null)`;

/** The reference `v.value_ref` if the peer can follow it, otherwise null. */
export function referenceGivenTo(peer: PeerCaller): Predicate {
  return sql`(v.value_ref is null or exists (select from assets a where a.id = v.value_ref and ${assetsGivenTo(peer)}))`;
}

/** Teams `t` of this library of which the peer is given a post or an asset. */
export function teamsGivenTo(peer: PeerCaller): Predicate {
  return sql`(${ownTeam} and (
    exists (select from posts p where p.team_id = t.id and ${postsGivenTo(peer)})
    or exists (select from assets a where a.team_id = t.id and ${assetsGivenTo(peer)})))`;
}

/** Collections that the peer is given. */
export function collectionsGivenTo({ peerId }: PeerCaller): Predicate {
  return sql`(${live('c')} and ${madeHere('c')} and ${unexpired('c')}
    and exists (select from federation_shares s where s.kind = 'collection' and s.object_id = c.id
      and s.peer_id = ${peerId} and ${shareInForce}))`;
}

/**
 * What peers share with this install, for `from` and `join`: a row for everyone here (`for_all`), or one for each
 * account: the person that is named, or the present members of the team (FED-65).
 */
export const grantedAccounts: RawBuilder<unknown> = sql`(
  select g.peer_id, g.uri, g.scope, g.expires_at, g.target_user_ref is null and g.target_team_id is null as for_all,
    coalesce(g.target_user_ref, tm.user_ref) as user_ref
  from federation_grants g left join (team_members tm join teams t on t.id = tm.team_id and t.deleted_at is null)
    on tm.team_id = g.target_team_id
  where ${unexpired('g')})`;

/**
 * Posts of this library that a person of the peer may like: shared with everyone there, or with that person
 * (FED-74). Only the peer knows the members of its teams.
 */
export function postsGivenToPerson({ peerId }: PeerCaller, person: string): Predicate {
  return sql`(${federablePost} and exists (select from (${sharesOfPost}) given
    where given.peer_id = ${peerId} and (given.target_actor is null or given.target_actor = ${person})))`;
}

/** Whether the person of the peer may comment on a local post: a share that includes them must allow it. */
export function mayComment({ peerId }: PeerCaller, person: string): Predicate {
  return sql`exists (select from (${sharesOfPost}) given where given.peer_id = ${peerId} and given.scope = 'comment'
    and (given.target_actor is null or given.target_actor = ${person}))`;
}

/**
 * Returns the peers that must be notified of a change to this local object, as a query with the column
 * `peer_id`.
 */
export function peersToNotify(
  kind: 'post' | 'asset' | 'collection',
  id: string | RawBuilder<string>,
): RawBuilder<{ peer_id: string }> {
  if (kind === 'collection') {
    return sql`select s.peer_id from federation_shares s
      where s.kind = 'collection' and s.object_id = ${id} and ${shareInForce}`;
  }
  const posts =
    kind === 'post'
      ? sql`p.id = ${id}`
      : sql`p.id in (select m.post_id from post_members m where m.asset_id = ${id})`;
  const alone =
    kind === 'asset'
      ? sql`select s.peer_id from federation_shares s where s.kind = 'asset' and s.object_id = ${id} and ${shareInForce}
          union`
      : sql``;
  return sql`${alone} select given.peer_id from posts p, lateral (${sharesOfPost}) given where ${posts}`;
}
