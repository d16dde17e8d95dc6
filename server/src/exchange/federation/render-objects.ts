import { visibilities } from '@vitrine/contract/visibilities';
import { type RawBuilder, sql } from 'kysely';
import { commentsForPeers } from '../../access/annotations.ts';
import {
  assetsGivenEncrypted,
  assetsGivenTo,
  collectionsGivenTo,
  membersGivenEncrypted,
  type PeerCaller,
  postsDiscussedWith,
  postsGivenTo,
} from '../../access/federation.ts';
import { passedOn } from '../../access/links.ts';
import { ownTeam } from '../../access/teams.ts';
import { isText } from '../../content/subtitles/tracks.ts';
import { kindOf } from '../../media/sniff.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { readGivenValues } from './fields/send.ts';
import { bytesKey } from './files/encrypted-bytes.ts';
import { ANNOTATIONS, type Install, RELAYED_COMMENTS } from './identity.ts';
import type { ActorKeys } from './keys.ts';
import { casUri, commentUri, objectUri } from './protocol/addresses.ts';
import type { AaFieldValue, AaNote } from './protocol/objects.ts';

/** The part of an address that names the kind of an object. */
export const collections = { post: 'posts', asset: 'assets', collection: 'collections' } as const;

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

interface AssetRow
  extends Columns<
      'assets',
      'id' | 'title' | 'description' | 'file_name' | 'mature' | 'created_at' | 'updated_at'
    >,
    Columns<'files', 'size_bytes' | 'mime' | 'extension' | 'pixel_width' | 'pixel_height' | 'thumbhash'> {
  file_hash: string;
  media: Record<string, unknown>;
  renditions: Record<
    string,
    { type: string; bytes: number; sha256?: string; width?: number; height?: number }
  >;
  tags: string[];
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
export interface Rendered {
  object: object;
  /** The assets in it. */
  assetIds?: readonly string[];
  fieldIds: readonly string[];
}

/** The receiver for which objects are rendered. */
export interface Writing {
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

/** Renditions without a hash cannot be read, or were just made and follow with the next change (FED-71). */
function renditionsMember({ renditions }: AssetRow) {
  const named = Object.entries(renditions).flatMap(([key, { type, bytes, sha256: hash, width, height }]) => {
    if (hash === undefined) return [];
    const size = width === undefined || height === undefined ? {} : { width, height };
    return [[key, { url: casUri({ hash, contentType: type, size: bytes }), ...size }]];
  });
  return Object.fromEntries(named);
}

function assetObject(writing: Writing, row: AssetRow, fields: readonly AaFieldValue[] = []) {
  const { install, owner, secretKey, peer } = writing;
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
    renditions: renditionsMember(row),
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

interface PostRow
  extends Columns<
    'posts',
    | 'title'
    | 'description'
    | 'visibility'
    | 'tags'
    | 'cover_asset_id'
    | 'comments_enabled'
    | 'posted_at'
    | 'updated_at'
  > {
  team: TeamRow | null;
}

/** Returns the post in the form for the peer, or null if it is not (or no longer) shared. */
export async function postObject(writing: Writing, id: string): Promise<Rendered | null> {
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
    visibility: visibilities[post.visibility].toPeers,
    commentsEnabled: post.comments_enabled,
    tags: post.tags,
    members: members.map((member) => assetObject(writing, member, bySubject.get(member.id))),
    ...(cover === undefined ? {} : { cover: objectUri(install.url, 'assets', cover.id) }),
    mature: members.some(({ mature }) => mature),
    ...teamMember(writing, post.team),
    published: post.posted_at,
    updated: post.updated_at,
  };
  return { object, fieldIds, assetIds: ids };
}

export async function collectionObject(
  { db, install, peer, owner }: Writing,
  id: string,
): Promise<Rendered | null> {
  const { rows } = await sql<{
    name: string;
    description: string;
    created_at: string;
    updated_at: string;
    items: string[];
  }>`
    select c.name, c.description, c.created_at, c.updated_at, array(
      select p.id from collection_posts cp join posts p on p.id = cp.post_id
      where cp.collection_id = c.id and c.query is null and ${postsGivenTo(peer)} order by cp.position) as items
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

export async function assetAlone(writing: Writing, id: string): Promise<Rendered | null> {
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
export function uriOf(
  install: Install,
  { peerId }: PeerCaller,
  kind: 'post' | 'asset' | 'comment',
  id: RawBuilder<unknown>,
  postId: RawBuilder<unknown>,
) {
  const own =
    kind !== 'comment'
      ? sql`${`${install.url}/${kind}s/`} || ${id}`
      : sql`${`${install.url}/posts/`} || ${postId} || '#comment-' || ${id}`;
  return sql`coalesce((select o.uri from federated_objects o where o.kind = ${kind} and o.local_id = ${id}
    and o.peer_id = ${peerId}), ${own})`;
}

/** Whether the peer states this capability. */
async function hasCapability(db: Database, { peerId }: PeerCaller, capability: string): Promise<boolean> {
  const { rows } = await sql`select from federation_peers where id = ${peerId}
    and ${capability} = any(capabilities)`.execute(db);
  return rows.length > 0;
}

/** What a comment is about, as it goes to a peer. */
type SentAnnotation = NonNullable<AaNote['annotation']>;

/** The place of an annotation `n` of the file as it is now; null for others, because peers have no earlier version. */
function annotationFor(install: Install, peer: PeerCaller): RawBuilder<SentAnnotation | null> {
  return sql`case when n.version = coalesce((select max(v.number) from asset_versions v
      where v.asset_id = c.annotated_asset_id), 1)
    then jsonb_strip_nulls(jsonb_build_object('asset', ${uriOf(install, peer, 'asset', sql`c.annotated_asset_id`, sql`c.post_id`)},
      'anchor', n.anchor, 'strokes', n.strokes)) end`;
}

/**
 * Returns the comment in the form for the peer; null if it is gone, on a post that the peer is not (or no longer) given
 * (FED-1), or by another peer and this one does not accept relayed comments.
 */
export async function commentObject(
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
    annotation: SentAnnotation | null;
  }>`select c.body, c.post_id, c.created_at, c.edited_at, c.remote_display_name as remote_name, ra.uri as written_by,
      pe.display_name as written_at, ${annotationFor(install, peer)} as annotation,
      ${uriOf(install, peer, 'post', sql`c.post_id`, sql`c.post_id`)} as post_uri,
      case when c.parent_id is not null then ${uriOf(install, peer, 'comment', sql`c.parent_id`, sql`c.post_id`)} end as parent_uri
    from comments c join posts p on p.id = c.post_id left join remote_actors ra on ra.ref = c.remote_actor_ref
      left join annotations n on n.comment_id = c.id left join federation_peers pe on pe.id = ra.peer_id
    where c.id = ${id} and ${commentsForPeers} and ${postsDiscussedWith(peer)}
      and ra.peer_id is distinct from ${peer.peerId}::uuid`.execute(db);
  const [comment] = rows;
  if (comment === undefined) return null;
  const { written_by, written_at } = comment;
  if (written_by !== null && !(await hasCapability(db, peer, RELAYED_COMMENTS))) return null;
  // Without its place it is a comment on the post; a drawing alone says nothing (FED-100).
  const isPlaced = comment.annotation !== null && (await hasCapability(db, peer, ANNOTATIONS));
  if (!isPlaced && comment.body === '') return null;
  const object = {
    type: 'Note',
    id: commentUri(install.url, comment.post_id, id),
    attributedTo: owner,
    attributedToName: comment.remote_name ?? keys.displayName,
    ...(written_by === null ? {} : { onBehalfOf: { id: written_by, library: written_at ?? '' } }),
    content: comment.body,
    inReplyTo: comment.parent_uri ?? comment.post_uri,
    ...(isPlaced ? { annotation: comment.annotation } : {}),
    published: comment.created_at,
    updated: comment.edited_at ?? comment.created_at,
  };
  return { object, fieldIds: [] };
}
