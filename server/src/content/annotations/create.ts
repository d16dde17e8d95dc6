import { createAnnotation } from '@vitrine/contract/comments';
import type { MediaFacts } from '@vitrine/contract/media';
import { sql } from 'kysely';
import { annotatedMembers, annotatedPosts, lockDiscussed } from '../../access/annotations.ts';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeersOfActivity } from '../../core/outbox/enqueue.ts';
import { announce } from '../../people/notifications/announce.ts';
import { watchAsCommenter } from '../../people/notifications/watch.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { versionsOfAsset } from '../assets/version-rows.ts';
import { readComment } from '../comments/write.ts';
import { keptStrokes } from '../drawings/strokes.ts';
import { checkAnchor } from './check-anchor.ts';

/**
 * Returns the version of a file of the post, by default the current one, with the facts of its bytes. Readers may name
 * any version that exists: the file may have been replaced while they looked at it.
 */
async function annotatedVersion(
  tx: Tx,
  caller: SignedIn,
  { post, asset, version }: { post: string; asset: string; version: number | null },
): Promise<{ number: number; mime: string; media: MediaFacts }> {
  const { rows } = await sql<{ number: number | null; mime: string | null; media: MediaFacts | null }>`
    select v.number, f.mime, f.media from posts p join post_members m on m.post_id = p.id
      join assets a on a.id = m.asset_id
      left join lateral (select v.number, v.file_hash from ${versionsOfAsset}
        where ${version}::integer is null or v.number = ${version}::integer order by v.number desc limit 1) v on true
      left join files f on f.hash = v.file_hash
    where p.id = ${post} and a.id = ${asset} and ${annotatedPosts(caller)} and ${annotatedMembers(caller)}`.execute(
    tx,
  );
  const [row] = rows;
  if (row === undefined) throw refuse('annotated-file-not-found');
  if (row.number === null || row.mime === null || row.media === null) throw refuse('version-not-found');
  return { number: row.number, mime: row.mime, media: row.media };
}

/** ANNOTATION-1: annotations do not depend on `comments_enabled`, and drafts take them. */
export const create = handle(createAnnotation, async ({ db }, { caller, params, body }) => {
  const strokes = body.strokes == null ? null : keptStrokes(body.strokes);
  if (body.body == null && strokes === null) throw refuse('annotation-empty');
  const comment = await db.transaction().execute(async (tx) => {
    await lockDiscussed(tx, caller, params.id);
    const { number, ...file } = await annotatedVersion(tx, caller, {
      post: params.id,
      asset: body.asset_id,
      version: body.version ?? null,
    });
    checkAnchor(body.anchor, file);
    const { id } = await tx
      .insertInto('comments')
      .values({
        post_id: params.id,
        annotated_asset_id: body.asset_id,
        author_user_ref: caller.ref,
        body: body.body ?? '',
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await tx
      .insertInto('annotations')
      .values({
        comment_id: id,
        version: number,
        anchor: JSON.stringify(body.anchor),
        strokes: strokes === null ? null : JSON.stringify(strokes),
      })
      .execute();
    await watchAsCommenter(tx, caller.ref, params.id);
    await announce(tx, { what: 'comment', comment: id, answers: null });
    await notifyPeersOfActivity(tx, params.id, {
      activity: 'create',
      kind: 'comment',
      objectId: id,
      actorRef: caller.ref,
    });
    return readComment(tx, caller, id);
  });
  return { status: 201, body: comment };
});
