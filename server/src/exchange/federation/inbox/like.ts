import { sql } from 'kysely';
import { postsGivenToPerson } from '../../../access/federation.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { parseObjectUri } from '../protocol/addresses.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Receipt } from './receipt.ts';

/**
 * Returns the local post at an address of ours or of the sender, locked, if the acting person may see it or the sender
 * shared it; throws Rejection otherwise (§12.1: `unknown_object` for what does not exist, `unshared_object` for what is
 * not shared).
 */
export async function postAt(
  tx: Tx,
  { install, sender, actor }: Receipt,
  uri: string,
): Promise<{ id: string; ours: boolean }> {
  const at = parseObjectUri(uri);
  if (at?.kind !== 'posts') throw new Rejection('unknown_object', 'this is not a post');
  if (at.base === sender.url) {
    const row = await tx
      .selectFrom('federated_objects as o')
      .innerJoin('posts as p', 'p.id', 'o.local_id')
      .select('p.id')
      .where('o.uri', '=', uri)
      .where('o.kind', '=', 'post')
      .where('o.peer_id', '=', sender.peerId)
      .forNoKeyUpdate('p')
      .executeTakeFirst();
    if (row === undefined) throw new Rejection('unknown_object', 'the post is not here');
    return { id: row.id, ours: false };
  }
  if (at.base !== install.url) throw new Rejection('unknown_object', 'the post belongs to another install');
  const { rows } = await sql<{
    id: string;
    given: boolean;
  }>`select p.id, ${postsGivenToPerson(sender, actor.uri)} as given
    from posts p where p.id = ${at.id} and p.origin_peer_id is null for no key update of p`.execute(tx);
  if (rows[0] === undefined) throw new Rejection('unknown_object', 'there is no such post');
  if (!rows[0].given) throw new Rejection('unshared_object', 'the post is not shared with this peer');
  return { id: rows[0].id, ours: true };
}

/** A person of the peer likes a post; counted once. */
export async function applyLike(tx: Tx, receipt: Receipt, uri: string): Promise<void> {
  const { id } = await postAt(tx, receipt, uri);
  await tx
    .insertInto('remote_post_likes')
    .values({ post_id: id, actor_ref: receipt.actor.ref })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function applyUnlike(tx: Tx, receipt: Receipt, { object }: { object: string }): Promise<void> {
  const { id } = await postAt(tx, receipt, object);
  await tx
    .deleteFrom('remote_post_likes')
    .where('post_id', '=', id)
    .where('actor_ref', '=', receipt.actor.ref)
    .execute();
}
