import { sql } from 'kysely';
import { commentsForPeers } from '../../../access/annotations.ts';
import { liveComment } from '../../../access/comments.ts';
import { mayComment, postsGivenTo } from '../../../access/federation.ts';
import { notifyPeersOfActivity } from '../../../core/outbox/enqueue.ts';
import { announce } from '../../../people/notifications/announce.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { findMirrored, isLater, type Mirrored, rememberMirrored } from '../mirror/objects.ts';
import { objectUri, parseActorUri, parseCommentUri } from '../protocol/addresses.ts';
import type { AaNote } from '../protocol/objects.ts';
import { Rejection } from '../protocol/rejection.ts';
import { type ReceivedAnnotation, readAnnotation } from './annotation.ts';
import { postAt } from './like.ts';
import type { Receipt } from './receipt.ts';

/** Returns the local comment at an address: one of ours by its id, one of the peer by its mirror. */
async function commentAt(tx: Tx, { install, sender }: Receipt, uri: string): Promise<string | null> {
  const at = parseCommentUri(uri);
  if (at?.base === install.url) return at.id;
  return (await findMirrored(tx, sender.peerId, 'comment', uri))?.local_id ?? null;
}

/** Returns the post and the root of a reply; throws Rejection if the comment that it replies to is gone. */
async function placeOf(
  tx: Tx,
  receipt: Receipt,
  uri: string,
): Promise<{ post: string; parent: string | null }> {
  const parent = await commentAt(tx, receipt, uri);
  // A reply to a comment from before the post was shared becomes a root.
  const at = parseCommentUri(uri);
  if (parent === null)
    return { post: at === null ? uri : objectUri(at.base, 'posts', at.post), parent: null };
  const { rows } = await sql<{ id: string; post_uri: string }>`
    select coalesce(c.parent_id, c.id) as id, coalesce(o.uri, ${receipt.install.url} || '/posts/' || c.post_id) as post_uri
    from comments c join posts p on p.id = c.post_id
      left join federated_objects o on o.kind = 'post' and o.local_id = c.post_id
    where c.id = ${parent} and ${commentsForPeers}`.execute(tx);
  if (rows[0] === undefined) throw new Rejection('unknown_object', 'the comment it answers is gone');
  return { post: rows[0].post_uri, parent: rows[0].id };
}

async function storeAnnotation(
  tx: Tx,
  comment: string,
  { version, anchor, strokes }: ReceivedAnnotation,
): Promise<void> {
  await tx
    .insertInto('annotations')
    .values({
      comment_id: comment,
      version,
      anchor: JSON.stringify(anchor),
      strokes: strokes === null ? null : JSON.stringify(strokes),
    })
    .execute();
}

/** A comment of a peer on a local post, which may also be shared with other peers. */
interface Relayed {
  activity: 'create' | 'update' | 'delete';
  comment: string;
}

/** Relays a peer's comment to the other peers that have the post, if the post is local (FED-36). */
async function relay(tx: Tx, { sender }: Receipt, { activity, comment }: Relayed): Promise<void> {
  const rows = await tx
    .selectFrom('comments as c')
    .innerJoin('posts as p', 'p.id', 'c.post_id')
    .select(['p.id', 'p.author_user_ref as author'])
    .where('c.id', '=', comment)
    .where('p.origin_peer_id', 'is', null)
    .execute();
  for (const { id, author } of rows) {
    const change = { activity, kind: 'comment', objectId: comment, actorRef: author } as const;
    await notifyPeersOfActivity(tx, id, change, sender.peerId);
  }
}

/** Throws Rejection unless the actor may comment on the post of this comment, or the post belongs to another library. */
async function checkMayEdit(tx: Tx, { sender, actor }: Receipt, comment: string): Promise<void> {
  const { rows } = await sql<{ allowed: boolean }>`
    select p.origin_peer_id is not null or (${postsGivenTo(sender)} and ${mayComment(sender, actor.uri)}) as allowed
    from comments c join posts p on p.id = c.post_id where c.id = ${comment}`.execute(tx);
  if (rows[0]?.allowed === false) throw new Rejection('unshared_object', 'the share does not allow comments');
}

/** Changes the text of a mirrored comment if the actor is its author and may still comment on the post (FED-32). */
async function editComment(tx: Tx, receipt: Receipt, known: Mirrored, note: AaNote): Promise<void> {
  const { sender, actor } = receipt;
  if (isLater(known, note.updated)) return;
  const comment = known.local_id;
  await checkMayEdit(tx, receipt, comment);
  // The account that relays comments may change.
  const author = sql`case when c.relayed_for is null then c.remote_actor_ref = ${actor.ref}
    else c.relayed_for = ${note.onBehalfOf?.id ?? null} end`;
  const { numAffectedRows } =
    await sql`update comments c set body = ${note.content}, edited_at = ${note.updated}
    where c.id = ${comment} and ${author} and ${liveComment} and c.body <> ${note.content}`.execute(tx);
  await rememberMirrored(tx, sender.peerId, 'comment', note.id, comment, note.updated);
  if (numAffectedRows === 0n) return;
  await announce(tx, { what: 'comment_edited', comment });
  await relay(tx, receipt, { activity: 'update', comment });
}

/**
 * Stores a comment by a person of the peer or, on the peer's own posts, a relayed comment by a person of another
 * library (FED-36), or changes its text (FED-32).
 */
export async function applyComment(tx: Tx, receipt: Receipt, note: AaNote): Promise<void> {
  const { install, sender, actor } = receipt;
  const { onBehalfOf } = note;
  if (parseCommentUri(note.id)?.base !== sender.url || note.attributedTo !== actor.uri) {
    throw new Rejection('unknown_object', 'the comment belongs to someone else');
  }
  const known = await findMirrored(tx, sender.peerId, 'comment', note.id);
  if (known !== null) return editComment(tx, receipt, known, note);
  if (onBehalfOf !== undefined && parseActorUri(onBehalfOf.id)?.base === install.url)
    throw new Rejection('unknown_actor', 'the author belongs to this library');
  const place = await placeOf(tx, receipt, note.inReplyTo);
  const post = await postAt(tx, receipt, place.post);
  if (post.ours && onBehalfOf !== undefined)
    throw new Rejection('unknown_actor', 'only the library of a post may relay comments on it');
  if (post.ours) {
    const { rows } = await sql<{
      allowed: boolean;
    }>`select (p.comments_enabled or ${note.annotation !== undefined}) and ${mayComment(sender, actor.uri)} as allowed
      from posts p where p.id = ${post.id}`.execute(tx);
    if (rows[0]?.allowed !== true)
      throw new Rejection('unshared_object', 'the share does not allow comments');
  }
  const annotation =
    note.annotation === undefined ? null : await readAnnotation(tx, receipt, post.id, note.annotation);
  const { rows } = await sql<{ id: string }>`
    insert into comments (post_id, parent_id, annotated_asset_id, remote_actor_ref, remote_display_name, relayed_for, relayed_library, body,
      created_at)
    values (${post.id}, ${place.parent}, ${annotation?.asset ?? null}, ${actor.ref},
      ${onBehalfOf === undefined ? actor.display_name : note.attributedToName}, ${onBehalfOf?.id ?? null},
      ${onBehalfOf?.library ?? null}, ${note.content}, least(${note.published}::timestamptz, now()))
    returning id`.execute(tx);
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('a comment of a peer was not stored');
  if (annotation !== null) await storeAnnotation(tx, id, annotation);
  await rememberMirrored(tx, sender.peerId, 'comment', note.id, id, note.updated);
  await announce(tx, { what: 'comment', comment: id, answers: place.parent });
  if (post.ours) await relay(tx, receipt, { activity: 'create', comment: id });
}

/** Removes a comment of the peer with its replies; returns false if the address is not that of a comment. */
export async function deleteComment(tx: Tx, receipt: Receipt, uri: string): Promise<boolean> {
  const { sender, install } = receipt;
  const at = parseCommentUri(uri);
  if (at === null) return false;
  const mirrored = await findMirrored(tx, sender.peerId, 'comment', uri);
  // The peer may also remove our comments from its own posts.
  const { rows } =
    mirrored !== null
      ? { rows: [{ id: mirrored.local_id }] }
      : at.base !== install.url
        ? { rows: [] }
        : await sql<{ id: string }>`select c.id from comments c join posts p on p.id = c.post_id
            where c.id = ${at.id} and p.origin_peer_id = ${sender.peerId}`.execute(tx);
  for (const { id } of rows) {
    await sql`update comments c set deleted_at = now() where (c.id = ${id} or c.parent_id = ${id}) and ${liveComment}`.execute(
      tx,
    );
    await relay(tx, receipt, { activity: 'delete', comment: id });
  }
  return true;
}
