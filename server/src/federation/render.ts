import { type RawBuilder, sql } from 'kysely';
import { liveComment } from '../access/comments.ts';
import {
  assetsGivenEncrypted,
  assetsGivenTo,
  collectionsGivenTo,
  membersGivenEncrypted,
  type PeerCaller,
  postsGivenTo,
  shareInForce,
} from '../access/federation.ts';
import { passedOn } from '../access/links.ts';
import { ownTeam } from '../access/teams.ts';
import type { Deps } from '../deps.ts';
import { kindOf } from '../media/sniff.ts';
import type { Database } from '../platform/database/pool.ts';
import { isText } from '../subtitles/tracks.ts';
import type { OutboxRow } from './delivery.ts';
import { encryptForPersons, recipientsOf } from './encrypt.ts';
import type { GivenDefinition } from './fields/definitions.ts';
import { freshActivityUri, missingDefinitions, readGivenValues } from './fields/send.ts';
import { bytesKey } from './files/encrypted-bytes.ts';
import { type Install, RELAYED_COMMENTS } from './identity.ts';
import { type ActorKeys, readActorKeys } from './keys.ts';
import { actorUri, casUri, commentUri, objectUri } from './protocol/addresses.ts';
import type { AaFieldValue } from './protocol/objects.ts';
import { signEnvelope } from './protocol/signature.ts';

const collections = { post: 'posts', asset: 'assets', collection: 'collections' } as const;

interface TeamRow {
  id: string;
  name: string;
  slug: string;
  description: string;
  updated: string;
}

interface TrackRow {
  lang: string;
  label: string;
  hash: string;
  size: number;
  source_format: string;
  confidence: number;
}

interface AssetRow {
  id: string;
  title: string;
  description: string;
  file_hash: string;
  file_name: string;
  size_bytes: number;
  mime: string;
  extension: string | null;
  pixel_width: number | null;
  pixel_height: number | null;
  thumbhash: string | null;
  media: Record<string, unknown>;
  renditions: Record<string, { type: string; bytes: number; width?: number; height?: number }>;
  mature: boolean;
  tags: string[];
  created_at: string;
  updated_at: string;
  team: TeamRow | null;
  tracks: TrackRow[] | null;
  /** Whether it is sent only to persons for whom sending it was confirmed. */
  secret: boolean;
}

/** The team of a post or asset; its picture and its place among other teams are not sent. */
function teamOf(alias: 'a' | 'p'): RawBuilder<TeamRow | null> {
  return sql`(select json_build_object('id', t.id, 'name', t.name, 'slug', t.slug, 'description', t.description,
    'updated', t.updated_at) from teams t where t.id = ${sql.ref(`${alias}.team_id`)} and ${ownTeam})`;
}

/** Text subtitles of an asset `a`, which are stored as WebVTT; the protocol has at most 100. */
const textTracks: RawBuilder<TrackRow[] | null> =
  sql`(select json_agg(json_build_object('lang', s.lang, 'label', s.label,
    'hash', s.file_hash, 'size', s.size_bytes, 'source_format', s.source_format, 'confidence', s.confidence) order by s.lang)
  from (select * from subtitles s where s.asset_id = a.id and ${isText} order by s.lang limit 100) s)`;

const assetColumns = sql`a.id, a.title, a.description, a.file_hash, a.file_name, f.size_bytes, f.mime, f.extension,
  f.pixel_width, f.pixel_height, f.thumbhash, f.media, f.renditions, a.mature, a.created_at, a.updated_at,
  array(select t.value from asset_tags t where t.asset_id = a.id order by t.position) as tags, ${teamOf('a')} as team,
  ${textTracks} as tracks`;

/** Facts about the file that peers receive. */
const sharedFacts = [
  'duration_seconds',
  'frame_rate',
  'has_video',
  'has_sound',
  'video_codec',
  'audio_codec',
  'hdr',
  'animated',
  'poster_seconds',
  'page_count',
];

/** An object, and the fields whose definitions its values need. */
interface Rendered {
  object: object;
  fieldIds: readonly string[];
}

/** The receiver for which objects are rendered. */
interface Writing {
  db: Database;
  secretKey: string;
  install: Install;
  peer: PeerCaller;
  /** The address of the person who made it. */
  owner: string;
}

function teamMember({ install, owner }: Writing, team: TeamRow | null) {
  if (team === null) return {};
  const { id, ...rest } = team;
  const address = objectUri(install.url, 'workspaces', id);
  return { team: { type: 'aa:Workspace', id: address, attributedTo: owner, ...rest } };
}

function subtitlesMember({ tracks, secret }: AssetRow) {
  // Bytes of subtitles are not encrypted, so those of restricted and mature content stay here.
  if (tracks === null || secret) return {};
  const subtitles = tracks.map(({ hash, size, ...track }) => ({
    ...track,
    url: casUri({ hash, contentType: 'text/vtt', size }),
  }));
  return { subtitles };
}

function assetObject(writing: Writing, row: AssetRow, fields: readonly AaFieldValue[] = []) {
  const { install, owner, secretKey, peer } = writing;
  const renditions = Object.entries(row.renditions).map(([key, { type, bytes, width, height }]) => [
    key,
    {
      url: casUri({ hash: row.file_hash, contentType: type, size: bytes }),
      ...(width === undefined || height === undefined ? {} : { width, height }),
    },
  ]);
  return {
    type: 'aa:Asset',
    id: objectUri(install.url, 'assets', row.id),
    attributedTo: owner,
    name: row.title,
    content: row.description,
    mediaType: row.mime,
    fileName: row.file_name,
    url: casUri({ hash: row.file_hash, contentType: row.mime, size: row.size_bytes }),
    assetKind: kindOf(row.mime),
    ...(row.extension === null ? {} : { extension: row.extension }),
    ...(row.pixel_width === null || row.pixel_height === null
      ? {}
      : { width: row.pixel_width, height: row.pixel_height }),
    ...(row.thumbhash === null ? {} : { thumbhash: row.thumbhash }),
    media: Object.fromEntries(Object.entries(row.media).filter(([key]) => sharedFacts.includes(key))),
    renditions: Object.fromEntries(renditions),
    ...(row.secret
      ? {
          sensitivity: 'restricted',
          contentKey: bytesKey(secretKey, peer.peerId, row.file_hash).toString('base64url'),
        }
      : {}),
    mature: row.mature,
    tags: row.tags,
    ...(fields.length === 0 ? {} : { fields }),
    ...teamMember(writing, row.team),
    ...subtitlesMember(row),
    published: row.created_at,
    updated: row.updated_at,
  };
}

interface PostRow {
  team: TeamRow | null;
  title: string;
  description: string;
  visibility: string;
  tags: string[];
  cover_asset_id: string | null;
  comments_enabled: boolean;
  posted_at: string;
  updated_at: string;
}

/** Returns the post in the form for the peer, or null if it is not (or no longer) shared. */
async function postObject(writing: Writing, id: string): Promise<Rendered | null> {
  const { db, install, peer, owner } = writing;
  const { rows } = await sql<PostRow>`select p.title, p.description, p.visibility, p.tags, p.cover_asset_id,
      p.comments_enabled, p.posted_at, p.updated_at, ${teamOf('p')} as team
    from posts p where p.id = ${id} and ${postsGivenTo(peer)}`.execute(db);
  const [post] = rows;
  if (post === undefined) return null;
  const { rows: members } = await sql<AssetRow>`select ${assetColumns}, not ${passedOn} as secret
    from posts p join post_members m on m.post_id = p.id join assets a on a.id = m.asset_id
      join files f on f.hash = a.file_hash
    where p.id = ${id} and (${passedOn} or ${membersGivenEncrypted(peer)}) order by m.sort_order, a.id`.execute(
    db,
  );
  const cover = members.find((member) => member.id === post.cover_asset_id);
  const ids = members.map((member) => member.id);
  const { bySubject, fieldIds } = await readGivenValues(db, install.url, peer, 'asset', ids);
  const object = {
    type: 'aa:Post',
    id: objectUri(install.url, 'posts', id),
    attributedTo: owner,
    name: post.title,
    content: post.description,
    visibility: post.visibility,
    commentsEnabled: post.comments_enabled,
    tags: post.tags,
    members: members.map((member) => assetObject(writing, member, bySubject.get(member.id))),
    ...(cover === undefined ? {} : { cover: objectUri(install.url, 'assets', cover.id) }),
    mature: members.some(({ mature }) => mature),
    ...teamMember(writing, post.team),
    published: post.posted_at,
    updated: post.updated_at,
  };
  return { object, fieldIds };
}

async function collectionObject({ db, install, peer, owner }: Writing, id: string): Promise<Rendered | null> {
  const { rows } = await sql<{
    name: string;
    description: string;
    created_at: string;
    updated_at: string;
    items: string[];
  }>`
    select c.name, c.description, c.created_at, c.updated_at, array(
      select p.id from collection_posts cp join posts p on p.id = cp.post_id
      where cp.collection_id = c.id and ${postsGivenTo(peer)} order by cp.position) as items
    from collections c where c.id = ${id} and ${collectionsGivenTo(peer)}`.execute(db);
  const [collection] = rows;
  if (collection === undefined) return null;
  const { bySubject, fieldIds } = await readGivenValues(db, install.url, peer, 'collection', [id]);
  const fields = bySubject.get(id) ?? [];
  const object = {
    type: 'aa:Collection',
    id: objectUri(install.url, 'collections', id),
    attributedTo: owner,
    name: collection.name,
    content: collection.description,
    items: collection.items.map((post) => objectUri(install.url, 'posts', post)),
    ...(fields.length === 0 ? {} : { fields }),
    published: collection.created_at,
    // Adding or removing posts does not update the collection's own time.
    updated: new Date().toISOString(),
  };
  return { object, fieldIds };
}

async function assetAlone(writing: Writing, id: string): Promise<Rendered | null> {
  const { db, install, peer } = writing;
  const plain = assetsGivenTo(peer);
  const { rows } =
    await sql<AssetRow>`select ${assetColumns}, not ${plain} as secret from assets a join files f on f.hash = a.file_hash
    where a.id = ${id} and (${plain} or ${assetsGivenEncrypted(peer)})`.execute(db);
  if (rows[0] === undefined) return null;
  const { bySubject, fieldIds } = await readGivenValues(db, install.url, peer, 'asset', [id]);
  return { object: assetObject(writing, rows[0], bySubject.get(id)), fieldIds };
}

/**
 * The address of a row for a peer: the peer's own address for its objects, ours for all others, also for comments of
 * another peer, which the receiver knows from us.
 */
function uriOf(
  install: Install,
  { peerId }: PeerCaller,
  kind: 'post' | 'comment',
  id: RawBuilder<unknown>,
  postId: RawBuilder<unknown>,
) {
  const own =
    kind === 'post'
      ? sql`${`${install.url}/posts/`} || ${id}`
      : sql`${`${install.url}/posts/`} || ${postId} || '#comment-' || ${id}`;
  return sql`coalesce((select o.uri from federated_objects o where o.kind = ${kind} and o.local_id = ${id}
    and o.peer_id = ${peerId}), ${own})`;
}

/** Whether the peer accepts relayed comments of other peers. */
async function takesRelayed(db: Database, { peerId }: PeerCaller): Promise<boolean> {
  const { rows } = await sql`select from federation_peers where id = ${peerId}
    and ${RELAYED_COMMENTS} = any(capabilities)`.execute(db);
  return rows.length > 0;
}

/**
 * Returns the comment in the form for the peer; null if it is gone, or by another peer and this one does not accept
 * relayed comments.
 */
async function commentObject(
  { db, install, peer, owner }: Writing,
  keys: ActorKeys,
  id: string,
): Promise<Rendered | null> {
  const { rows } = await sql<{
    body: string;
    post_id: string;
    post_uri: string;
    parent_uri: string | null;
    created_at: string;
    edited_at: string | null;
    remote_name: string | null;
    written_by: string | null;
    written_at: string | null;
  }>`select c.body, c.post_id, c.created_at, c.edited_at, c.remote_display_name as remote_name, ra.uri as written_by,
      pe.display_name as written_at,
      ${uriOf(install, peer, 'post', sql`c.post_id`, sql`c.post_id`)} as post_uri,
      case when c.parent_id is not null then ${uriOf(install, peer, 'comment', sql`c.parent_id`, sql`c.post_id`)} end as parent_uri
    from comments c left join remote_actors ra on ra.ref = c.remote_actor_ref
      left join federation_peers pe on pe.id = ra.peer_id
    where c.id = ${id} and ${liveComment} and ra.peer_id is distinct from ${peer.peerId}::uuid`.execute(db);
  const [comment] = rows;
  if (comment === undefined) return null;
  const { written_by, written_at } = comment;
  if (written_by !== null && !(await takesRelayed(db, peer))) return null;
  const object = {
    type: 'Note',
    id: commentUri(install.url, comment.post_id, id),
    attributedTo: owner,
    attributedToName: comment.remote_name ?? keys.displayName,
    ...(written_by === null ? {} : { onBehalfOf: { id: written_by, library: written_at ?? '' } }),
    content: comment.body,
    inReplyTo: comment.parent_uri ?? comment.post_uri,
    published: comment.created_at,
    updated: comment.edited_at ?? comment.created_at,
  };
  return { object, fieldIds: [] };
}

/**
 * The account that signs: the one that acted, else the one that shared the thing with the peer. Likes and comments are
 * by no other account; null if that account is gone.
 */
async function signerOf(deps: Deps, row: OutboxRow): Promise<ActorKeys | null> {
  const acted = row.actor_ref === null ? null : await readActorKeys(deps, row.actor_ref);
  const isPersonal =
    row.activity === 'like' ||
    row.activity === 'unlike' ||
    (row.kind === 'comment' && row.activity !== 'delete');
  if (acted !== null || isPersonal) return acted;
  const { rows } = await sql<{
    ref: number;
  }>`select u.ref from federation_shares s join users u on u.ref = s.granted_by_user_ref
    where s.peer_id = ${row.peer_id} order by s.object_id = ${row.object_id} desc, s.granted_at desc limit 1`.execute(
    deps.db,
  );
  return rows[0] === undefined ? null : readActorKeys(deps, rows[0].ref);
}

/** Returns who made a post, asset or collection, as an address; the signer if the account is gone. */
async function ownerOf(deps: Deps, install: Install, row: OutboxRow, signer: ActorKeys): Promise<string> {
  if (row.kind !== 'post' && row.kind !== 'asset' && row.kind !== 'collection')
    return actorUri(install.url, signer.username);
  const table = collections[row.kind];
  const column = row.kind === 'post' ? 'author_user_ref' : 'owner_user_ref';
  const { rows } = await sql<{ ref: number }>`select t.${sql.ref(column)} as ref from ${sql.table(table)} t
    where t.id = ${row.object_id}`.execute(deps.db);
  // The peer reads the owner's document, which exists for people with keys.
  const owner = rows[0] === undefined ? null : await readActorKeys(deps, rows[0].ref);
  return actorUri(install.url, owner?.username ?? signer.username);
}

/** The members of an envelope that depend on the activity. */
interface Body {
  type: string;
  [member: string]: unknown;
}

/**
 * Returns the content of a share or of its end from the current state, because a change may be sent long after it was
 * made. Null if a later change supersedes it.
 */
async function shareBody(
  db: Database,
  { activity, kind, object_id, peer_id, details }: OutboxRow,
): Promise<Body | null> {
  const person = typeof details.target_user === 'string' ? details.target_user : null;
  const team = typeof details.target_team === 'string' ? details.target_team : null;
  const { rows } = await sql<{ scope: string; expires_at: string | null }>`select s.scope, s.expires_at
    from federation_shares s where s.kind = ${kind} and s.object_id = ${object_id} and s.peer_id = ${peer_id}
      and s.target_actor is not distinct from ${person} and s.target_team is not distinct from ${team}
      and ${shareInForce}`.execute(db);
  const [share] = rows;
  if (activity === 'unshare') return share === undefined ? { type: 'aa:Unshare', ...details } : null;
  if (share === undefined) return null;
  const { expires_at: _, ...terms } = details;
  const expiry = share.expires_at === null ? {} : { expires_at: share.expires_at };
  return { type: 'aa:Share', ...terms, scope: share.scope, ...expiry };
}

/** Returns the body of an activity and the fields of its values; null if the change is obsolete. */
async function bodyOf(
  deps: Deps,
  install: Install,
  row: OutboxRow,
  signer: ActorKeys,
): Promise<{ body: Body | null; fieldIds: readonly string[] }> {
  const { db } = deps;
  const only = (body: Body | null) => ({ body, fieldIds: [] });
  const peer: PeerCaller = { kind: 'peer', peerId: row.peer_id };
  const actor = actorUri(install.url, signer.username);
  if (row.activity === 'share' || row.activity === 'unshare') return only(await shareBody(db, row));
  if (row.activity === 'like' || row.activity === 'unlike') {
    const { rows } = await sql<{ uri: string; liked: boolean }>`
      select ${uriOf(install, peer, 'post', sql`p.id`, sql`p.id`)} as uri, exists (select from post_likes l
        where l.post_id = p.id and l.user_ref = ${row.actor_ref}) as liked
      from posts p where p.id = ${row.object_id}`.execute(db);
    const [post] = rows;
    // The like was withdrawn or repeated, which a later change reports.
    if (post === undefined || post.liked !== (row.activity === 'like')) return only(null);
    return row.activity === 'like'
      ? only({ type: 'Like', object: post.uri })
      : only({ type: 'Undo', object: { type: 'Like', actor, object: post.uri } });
  }
  // This change consists of definitions only, which are sent as preludes.
  if (row.kind === 'field') return { body: null, fieldIds: [row.object_id] };
  if (row.activity === 'delete') {
    const { rows } = await sql<{
      uri: string;
    }>`select ${uriOf(install, peer, 'comment', sql`c.id`, sql`c.post_id`)} as uri
      from comments c where c.id = ${row.object_id}`.execute(db);
    return only(rows[0] === undefined ? null : { type: 'Delete', object: rows[0].uri });
  }
  const owner = await ownerOf(deps, install, row, signer);
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
  if (rendered !== null) {
    const { object, fieldIds } = rendered;
    return { body: { type: row.activity === 'create' ? 'Create' : 'Update', object }, fieldIds };
  }
  // Deleted, unpublished, or no longer shared with this peer.
  const kind =
    row.kind === 'post' || row.kind === 'asset' || row.kind === 'collection' ? collections[row.kind] : null;
  return only(kind === null ? null : { type: 'Delete', object: objectUri(install.url, kind, row.object_id) });
}

/** The envelopes of a change. */
interface RenderedChange {
  /** Envelopes with the definitions that the peer lacks, before the other. */
  preludes: string[];
  /** Null if the object is gone or no longer shared, which a later change reports. */
  envelope: string | null;
  /** The definitions in the preludes. */
  sent: readonly GivenDefinition[];
}

/** Whether an activity brings an asset that is sent encrypted only. */
function bringsSecret(body: object): boolean {
  const object: unknown = Reflect.get(body, 'object');
  if (typeof object !== 'object' || object === null) return false;
  const members: unknown = Reflect.get(object, 'members');
  return [object, ...(Array.isArray(members) ? members : [])].some((one) => Object.hasOwn(one, 'contentKey'));
}

/**
 * Returns the members of an envelope, its content encrypted if it is for named persons only (FED-52); null when none of
 * them can decrypt it.
 */
async function sealedBody(deps: Deps, install: Install, row: OutboxRow, body: Body): Promise<Body | null> {
  // A Delete contains only an address.
  const recipients = body.type === 'Delete' ? null : await recipientsOf(deps, row);
  // The content was read a moment earlier; a share that ended in between leaves nobody to encrypt for.
  if (recipients === null) return bringsSecret(body) ? null : body;
  const { type, ...content } = body;
  const encrypted = await encryptForPersons(deps, install, row, recipients, content);
  return encrypted === null ? null : { type, to: encrypted.recipients.map(({ actor }) => actor), encrypted };
}

/** Writes and signs the envelopes of a change from the current state, as text (FED-20). */
export async function renderChange(deps: Deps, install: Install, row: OutboxRow): Promise<RenderedChange> {
  const signer = await signerOf(deps, row);
  if (signer === null) return { preludes: [], envelope: null, sent: [] };
  const { body: plain, fieldIds } = await bodyOf(deps, install, row, signer);
  const body = plain === null ? null : await sealedBody(deps, install, row, plain);
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
  const { objects, sent } = await missingDefinitions(deps.db, peer, actor, fieldIds);
  return {
    preludes: objects.map((object) => sign(freshActivityUri(install.url), { type: 'Update', object })),
    envelope: body === null ? null : sign(`${install.url}/activities/${row.activity_id}`, body),
    sent,
  };
}
