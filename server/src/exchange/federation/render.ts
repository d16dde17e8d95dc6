import { sql } from 'kysely';
import { administers } from '../../access/accounts.ts';
import { type PeerCaller, postsDiscussedWith, shareInForce } from '../../access/federation.ts';
import type { Deps } from '../../core/deps.ts';
import type { Database } from '../../platform/database/pool.ts';
import { type Announcement, isAnnounced, isGiven, mayWithdraw, type Named } from './announced.ts';
import { encryptForPersons, recipientsOf } from './encrypt.ts';
import type { GivenDefinition } from './fields/definitions.ts';
import { freshActivityUri, missingDefinitions } from './fields/send.ts';
import { hashRenditionsOf } from './files/hash-renditions.ts';
import type { Install } from './identity.ts';
import { type ActorKeys, readActorKeys } from './keys.ts';
import type { OutboxRow } from './outbox-row.ts';
import { actorUri, objectUri } from './protocol/addresses.ts';
import { signEnvelope } from './protocol/signature.ts';
import {
  assetAlone,
  collectionObject,
  collections,
  commentObject,
  postObject,
  uriOf,
  type Writing,
} from './render-objects.ts';

/**
 * The account that signs: the one that acted, else the one that shared the object with the peer, else an administrator.
 * Likes and comments are signed only by their author; null if that account is gone.
 */
async function signerOf(deps: Deps, row: OutboxRow): Promise<ActorKeys | null> {
  const acted = row.actor_ref === null ? null : await readActorKeys(deps, row.actor_ref);
  const isPersonal =
    row.activity === 'like' ||
    row.activity === 'unlike' ||
    (row.kind === 'comment' && row.activity !== 'delete');
  if (acted !== null || isPersonal) return acted;
  const { rows } = await sql<{ ref: number }>`
    (select u.ref from federation_shares s join users u on u.ref = s.granted_by_user_ref
      where s.peer_id = ${row.peer_id} order by s.object_id = ${row.object_id} desc, s.granted_at desc limit 1)
    union all (select u.ref from users u where ${administers} order by u.ref limit 1)
    limit 1`.execute(deps.db);
  return rows[0] === undefined ? null : readActorKeys(deps, rows[0].ref);
}

/** Returns who made a post, asset or collection, as an address; the signer if the account is gone. */
async function ownerOf(deps: Deps, install: Install, row: OutboxRow, signer: ActorKeys): Promise<string> {
  if (row.kind !== 'post' && row.kind !== 'asset' && row.kind !== 'collection')
    return actorUri(install.url, signer.username);
  const table = collections[row.kind];
  const column = row.kind === 'post' ? 'author_user_ref' : 'owner_user_ref';
  const { rows } = await sql<{
    ref: number | null;
  }>`select t.${sql.ref(column)} as ref from ${sql.table(table)} t
    where t.id = ${row.object_id}`.execute(deps.db);
  // The peer reads the owner's document, which exists for people with keys.
  const ref = rows[0]?.ref ?? null;
  const owner = ref === null ? null : await readActorKeys(deps, ref);
  return actorUri(install.url, owner?.username ?? signer.username);
}

/** The members of an envelope that depend on the activity. */
interface Body {
  type: string;
  [member: string]: unknown;
}

const nothing: Announcement = { brings: [], withdraws: null };

/** What a change says, before it is signed. */
interface Content {
  /** Null if the change is obsolete. */
  body: Body | null;
  /** The shares to send before it. */
  shares: readonly Body[];
  fieldIds: readonly string[];
  announcement: Announcement;
}

/** Returns content without shares and definitions to send before it. */
const contentOf = (body: Body | null, announcement: Announcement = nothing): Content => ({
  body,
  shares: [],
  fieldIds: [],
  announcement: body === null ? nothing : announcement,
});

/** Returns the object of a change, or null for definitions of fields. */
function namedBy({ kind, object_id: id }: OutboxRow): Named | null {
  return kind === 'field' ? null : { kind, id };
}

/**
 * Returns the content of a share or of its end from the current state, because a change may be sent long after it was
 * made. Null if a later change supersedes it, or if it named an object that the peer has never received and is not
 * given now (FED-79).
 */
async function shareContent(db: Database, row: OutboxRow, peer: PeerCaller): Promise<Content> {
  const { activity, kind, object_id, details } = row;
  const named = namedBy(row);
  if (named === null) return contentOf(null);
  const person = typeof details.target_user === 'string' ? details.target_user : null;
  const team = typeof details.target_team === 'string' ? details.target_team : null;
  const { rows } = await sql<{ scope: string; expires_at: string | null }>`select s.scope, s.expires_at
    from federation_shares s where s.kind = ${kind} and s.object_id = ${object_id} and s.peer_id = ${peer.peerId}
      and s.target_actor is not distinct from ${person} and s.target_team is not distinct from ${team}
      and ${shareInForce}`.execute(db);
  const [share] = rows;
  const isKnown = await isAnnounced(db, peer, named);
  if (activity === 'unshare')
    return contentOf(share === undefined && isKnown ? { type: 'aa:Unshare', ...details } : null);
  if (share === undefined || !(isKnown || (await isGiven(db, peer, named)))) return contentOf(null);
  const { expires_at: _, ...terms } = details;
  const expiry = share.expires_at === null ? {} : { expires_at: share.expires_at };
  return contentOf(
    { type: 'aa:Share', ...terms, scope: share.scope, ...expiry },
    { brings: [named], withdraws: null },
  );
}

/**
 * Returns the shares in force of an object that the peer does not know yet. They are sent with the object if the peer
 * was not given it when it was shared.
 */
async function missingShares(
  db: Database,
  install: Install,
  peer: PeerCaller,
  named: Named,
): Promise<Body[]> {
  if (named.kind === 'comment' || (await isAnnounced(db, peer, named))) return [];
  const rows = await db
    .selectFrom('federation_shares as s')
    .innerJoin('federation_peers as pe', 'pe.id', 's.peer_id')
    .select([
      'pe.instance_url as target_peer',
      's.target_actor as target_user',
      's.target_team',
      's.scope',
      's.expires_at',
    ])
    .where('s.kind', '=', named.kind)
    .where('s.object_id', '=', named.id)
    .where('s.peer_id', '=', peer.peerId)
    .where(shareInForce)
    .orderBy('s.granted_at')
    .orderBy('s.id')
    .execute();
  const object = objectUri(install.url, collections[named.kind], named.id);
  return rows.map(({ target_user, target_team, expires_at, ...terms }) => ({
    type: 'aa:Share',
    object_kind: named.kind,
    object,
    ...terms,
    ...(target_user === null ? {} : { target_user }),
    ...(target_team === null ? {} : { target_team }),
    ...(expires_at === null ? {} : { expires_at }),
  }));
}

/** Returns the Delete of a comment that the peer received or wrote. */
async function deletedComment(
  db: Database,
  install: Install,
  row: OutboxRow,
  peer: PeerCaller,
): Promise<Content> {
  const named: Named = { kind: 'comment', id: row.object_id };
  const isReceived = await mayWithdraw(db, peer, named, row.activity_id);
  const { rows } = await sql<{
    uri: string;
  }>`select ${uriOf(install, peer, 'comment', sql`c.id`, sql`c.post_id`)} as uri
    from comments c where c.id = ${row.object_id} and (${isReceived} or exists (select from federated_objects o
      where o.kind = 'comment' and o.local_id = c.id and o.peer_id = ${peer.peerId}))`.execute(db);
  const [comment] = rows;
  return contentOf(comment === undefined ? null : { type: 'Delete', object: comment.uri }, {
    brings: [],
    withdraws: named,
  });
}

/** Returns the Delete of an object that the peer is not given any more, if it ever received it. */
async function withdrawal(
  db: Database,
  install: Install,
  row: OutboxRow,
  peer: PeerCaller,
): Promise<Content> {
  if (row.kind === 'field' || row.kind === 'comment') return contentOf(null);
  const named: Named = { kind: row.kind, id: row.object_id };
  if (!(await mayWithdraw(db, peer, named, row.activity_id))) return contentOf(null);
  const object = objectUri(install.url, collections[row.kind], row.object_id);
  return contentOf({ type: 'Delete', object }, { brings: [], withdraws: named });
}

/** Returns what a change says in the current state. */
async function bodyOf(
  deps: Deps,
  install: Install,
  row: OutboxRow,
  signer: ActorKeys,
  owner: string,
): Promise<Content> {
  const { db } = deps;
  const peer: PeerCaller = { kind: 'peer', peerId: row.peer_id };
  const actor = actorUri(install.url, signer.username);
  if (row.activity === 'share' || row.activity === 'unshare') return shareContent(db, row, peer);
  if (row.activity === 'like' || row.activity === 'unlike') {
    const { rows } = await sql<{ uri: string; liked: boolean }>`
      select ${uriOf(install, peer, 'post', sql`p.id`, sql`p.id`)} as uri, exists (select from post_likes l
        where l.post_id = p.id and l.user_ref = ${row.actor_ref}) as liked
      from posts p where p.id = ${row.object_id} and ${postsDiscussedWith(peer)}`.execute(db);
    const [post] = rows;
    // The peer has lost the post, or the like was withdrawn or repeated, which a later change reports.
    if (post === undefined || post.liked !== (row.activity === 'like')) return contentOf(null);
    return row.activity === 'like'
      ? contentOf({ type: 'Like', object: post.uri })
      : contentOf({ type: 'Undo', object: { type: 'Like', actor, object: post.uri } });
  }
  // This change consists of definitions only, which are sent as preludes.
  if (row.kind === 'field') return { ...contentOf(null), fieldIds: [row.object_id] };
  if (row.activity === 'delete') return deletedComment(db, install, row, peer);
  const writing: Writing = { db, secretKey: deps.secretKey, install, peer, owner };
  const rendered =
    row.kind === 'post'
      ? await postObject(writing, row.object_id)
      : row.kind === 'collection'
        ? await collectionObject(writing, row.object_id)
        : row.kind === 'asset'
          ? await assetAlone(writing, row.object_id)
          : row.kind === 'comment'
            ? await commentObject({ ...writing, owner: actor }, signer, row.object_id)
            : null;
  // Deleted, unpublished, or no longer shared with this peer.
  if (rendered === null) return withdrawal(db, install, row, peer);
  const { object, fieldIds, assetIds = [] } = rendered;
  const named: Named = { kind: row.kind, id: row.object_id };
  return {
    body: { type: row.activity === 'create' ? 'Create' : 'Update', object },
    shares: await missingShares(db, install, peer, named),
    fieldIds,
    announcement: {
      brings: [named, ...assetIds.map((id) => ({ kind: 'asset' as const, id }))],
      withdraws: null,
    },
  };
}

/** The envelopes of a change. */
interface RenderedChange {
  /** Envelopes with the shares and definitions that the peer lacks, to be sent before the change itself. */
  preludes: string[];
  /** Null if the object is gone or no longer shared, which a later change reports. */
  envelope: string | null;
  /** The definitions in the preludes. */
  sent: readonly GivenDefinition[];
  /** What the envelope tells the peer. */
  announcement: Announcement;
}

/** Whether an activity brings an asset that is sent encrypted only. */
function bringsSecret(body: object): boolean {
  const object: unknown = Reflect.get(body, 'object');
  if (typeof object !== 'object' || object === null) return false;
  const members: unknown = Reflect.get(object, 'members');
  return [object, ...(Array.isArray(members) ? members : [])].some((sent) =>
    Object.hasOwn(sent, 'contentKey'),
  );
}

/** A body that is not encrypted yet. */
interface PlainBody extends Content {
  /** The addresses of the persons to encrypt it for; null for everyone at the peer. */
  recipients: string[] | null;
}

/**
 * Reads the content of a change and its recipients in one snapshot: content would go out in plain text if the share that
 * names its recipients ended in between.
 */
async function plainBodyOf(
  deps: Deps,
  install: Install,
  row: OutboxRow,
  signer: ActorKeys,
): Promise<PlainBody> {
  // May generate the owner's keys, which a snapshot cannot share with another process.
  const owner = await ownerOf(deps, install, row, signer);
  return deps.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const snapshot = { ...deps, db: tx };
      const content = await bodyOf(snapshot, install, row, signer, owner);
      // A Delete contains only an address.
      const isPlain = content.body === null || content.body.type === 'Delete';
      return { ...content, recipients: isPlain ? null : await recipientsOf(snapshot, row) };
    });
}

/**
 * Returns the members of an envelope, its content encrypted if it is for named persons only (FED-52); null when none of
 * them can decrypt it.
 */
async function sealedBody(
  deps: Deps,
  install: Install,
  row: OutboxRow,
  { body, recipients }: PlainBody,
): Promise<Body | null> {
  if (body === null) return null;
  // Such content always has recipients; it must not leave without them.
  if (recipients === null) return bringsSecret(body) ? null : body;
  const { type, ...content } = body;
  const encrypted = await encryptForPersons(deps, install, row, recipients, content);
  return encrypted === null ? null : { type, to: encrypted.recipients.map(({ actor }) => actor), encrypted };
}

/**
 * Writes and signs the envelopes of a change from the current state, as text (FED-20). Calls `onProgress` while it hashes
 * renditions, which can take minutes.
 */
export async function renderChange(
  deps: Deps,
  install: Install,
  row: OutboxRow,
  onProgress?: () => Promise<void>,
): Promise<RenderedChange> {
  const signer = await signerOf(deps, row);
  if (signer === null) return { preludes: [], envelope: null, sent: [], announcement: nothing };
  await hashRenditionsOf(deps, row, onProgress);
  const plain = await plainBodyOf(deps, install, row, signer);
  const body = await sealedBody(deps, install, row, plain);
  const actor = actorUri(install.url, signer.username);
  const sign = (id: string, what: Body) => {
    const envelope = {
      '@context': 'https://artist-alley.org/protocol/v1',
      id,
      actor,
      published: new Date().toISOString(),
      ...what,
    };
    return JSON.stringify(signEnvelope(envelope, `${actor}#main-key`, signer.signingPrivate));
  };
  const peer: PeerCaller = { kind: 'peer', peerId: row.peer_id };
  const { objects, sent } = await missingDefinitions(deps.db, peer, actor, plain.fieldIds);
  return {
    preludes: [
      ...(body === null ? [] : plain.shares),
      ...objects.map((object) => ({ type: 'Update', object })),
    ].map((prelude) => sign(freshActivityUri(install.url), prelude)),
    envelope: body === null ? null : sign(`${install.url}/activities/${row.activity_id}`, body),
    sent,
    announcement: body === null ? nothing : plain.announcement,
  };
}
