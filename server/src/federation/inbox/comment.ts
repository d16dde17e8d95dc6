import { sql } from 'kysely';
import { liveComment } from '../../access/comments.ts';
import { mayComment } from '../../access/federation.ts';
import { announce } from '../../notifications/announce.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { findMirrored, rememberMirrored } from '../mirror/objects.ts';
import { parseCommentUri } from '../protocol/addresses.ts';
import type { AaNote } from '../protocol/objects.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Receipt } from './apply.ts';
import { postAt } from './like.ts';

/** Returns the local comment at an address: one of ours by its id, one of the peer by its mirror. */
async function commentAt(tx: Tx, { install, sender }: Receipt, uri: string): Promise<string | null> {
  const at = parseCommentUri(uri);
  if (at?.base === install.url) return at.id;
  return (await findMirrored(tx, sender.peerId, 'comment', uri))?.local_id ?? null;
}

/** Returns the post and the root of a reply; throws Rejection when the comment it answers is gone. */
async function placeOf(
  tx: Tx,
  receipt: Receipt,
  uri: string,
): Promise<{ post: string; parent: string | null }> {
  const parent = await commentAt(tx, receipt, uri);
  if (parent === null) return { post: uri, parent: null };
  const { rows } = await sql<{ id: string; post_uri: string }>`
    select coalesce(c.parent_id, c.id) as id, coalesce(o.uri, ${receipt.install.url} || '/posts/' || c.post_id) as post_uri
    from comments c left join federated_objects o on o.kind = 'post' and o.local_id = c.post_id
    where c.id = ${parent} and ${liveComment}`.execute(tx);
  if (rows[0] === undefined) throw new Rejection('unknown_object', 'the comment it answers is gone');
  return { post: rows[0].post_uri, parent: rows[0].id };
}

/** Stores a comment by a person of the peer, or changes its text (FED-32). */
export async function applyComment(tx: Tx, receipt: Receipt, note: AaNote): Promise<void> {
  const { sender, actor } = receipt;
  if (parseCommentUri(note.id)?.base !== sender.url || note.attributedTo !== actor.uri) {
    throw new Rejection('unknown_object', 'the comment belongs to someone else');
  }
  const known = await findMirrored(tx, sender.peerId, 'comment', note.id);
  if (known !== null) {
    if (known.version > note.updated) return;
    const { numAffectedRows } =
      await sql`update comments c set body = ${note.content}, edited_at = ${note.updated}
      where c.id = ${known.local_id} and c.remote_actor_ref = ${actor.ref} and ${liveComment} and c.body <> ${note.content}`.execute(
        tx,
      );
    await rememberMirrored(tx, sender.peerId, 'comment', note.id, known.local_id, note.updated);
    if (numAffectedRows === 1n) await announce(tx, { what: 'comment_edited', comment: known.local_id });
    return;
  }
  const place = await placeOf(tx, receipt, note.inReplyTo);
  const post = await postAt(tx, receipt, place.post);
  if (post.ours) {
    const { rows } = await sql<{
      allowed: boolean;
    }>`select p.comments_enabled and ${mayComment(sender, actor.uri)} as allowed
      from posts p where p.id = ${post.id}`.execute(tx);
    if (rows[0]?.allowed !== true)
      throw new Rejection('unshared_object', 'the share does not allow comments');
  }
  const { rows } = await sql<{ id: string }>`
    insert into comments (post_id, parent_id, remote_actor_ref, remote_display_name, body, created_at)
    values (${post.id}, ${place.parent}, ${actor.ref}, ${actor.display_name}, ${note.content},
      least(${note.published}::timestamptz, now())) returning id`.execute(tx);
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('a comment of a peer was not stored');
  await rememberMirrored(tx, sender.peerId, 'comment', note.id, id, note.updated);
  await announce(tx, { what: 'comment', comment: id, answers: place.parent });
}

/** Removes a comment of the peer with its replies; returns false when the address is not one of a comment. */
export async function deleteComment(tx: Tx, { sender, install }: Receipt, uri: string): Promise<boolean> {
  const at = parseCommentUri(uri);
  if (at === null) return false;
  const mirrored = await findMirrored(tx, sender.peerId, 'comment', uri);
  // The peer may also remove comments of ours from its own posts.
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
  }
  return true;
}
