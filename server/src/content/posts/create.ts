import { createPost, type PostCreate } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { checkMayPublish } from '../../access/posts.ts';
import { handle } from '../../core/handle.ts';
import { notifyFollowers } from '../../core/outbox/followers.ts';
import { announce } from '../../people/notifications/announce.ts';
import { checkAssignable } from '../../people/teams/assignable.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { checkApprovals, gatesOfPublishing } from '../approvals/gates.ts';
import { append } from '../collections/place.ts';
import { readChanged } from './get.ts';
import { insertPost } from './insert.ts';
import { schedule } from './schedule.ts';

/** Throws 400 if the standalone thumbnail is also a member. */
export function checkThumbnail(thumbnail: string | null, members: readonly string[]): void {
  if (thumbnail !== null && members.includes(thumbnail)) {
    throw refuse('cover-thumbnail-is-member');
  }
}

/** Checks the rules that need only the body (POST-16, POST-25). */
function checkShape(body: PostCreate): void {
  const ids = body.members.map((member) => member.asset_id);
  if (new Set(ids).size !== ids.length) throw refuse('members-repeated');
  const cover = body.cover_asset_id ?? null;
  if (cover !== null && !ids.includes(cover))
    throw refuse('cover-not-member', { property: 'cover_asset_id' });
  checkThumbnail(body.cover_thumbnail_asset_id ?? null, ids);
  if (((body.cover_focal_x ?? null) === null) !== ((body.cover_focal_y ?? null) === null)) {
    throw refuse('focal-point-incomplete');
  }
  if (body.publish_at !== undefined && body.draft !== true) throw refuse('post-not-draft');
}

/**
 * POST-17: locks the assets that a post names. Throws 404 for the first one whose columns the author may not see: a
 * placeholder cannot be posted. Takes the same locks, in the same order, as refreshing `exposure`.
 */
export async function checkAssets(tx: Tx, caller: SignedIn, ids: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select a.id from assets a where a.id = any(${[...ids]}::uuid[]) and ${shownAssets(caller)}
    order by a.id for no key update of a`.execute(tx);
  const readable = new Set(rows.map((row) => row.id));
  const missing = ids.find((id) => !readable.has(id));
  if (missing !== undefined) throw refuse('member-asset-not-found', { asset: missing });
}

export const create = handle(createPost, async ({ db, ladder }, { caller, body }) => {
  checkShape(body);
  if (body.draft !== true) checkMayPublish(caller);
  const thumbnail = body.cover_thumbnail_asset_id ?? null;
  const named = [
    ...body.members.map((member) => member.asset_id),
    ...(thumbnail === null ? [] : [thumbnail]),
  ];
  const post = await db.transaction().execute(async (tx) => {
    await checkAssets(tx, caller, named);
    if (body.team_id !== undefined) await checkAssignable(tx, caller, body.team_id);
    const id = await insertPost(tx, caller.ref, body);
    if (body.collection_id !== undefined) await append(tx, caller, body.collection_id, id);
    if (body.publish_at !== undefined)
      await schedule(tx, caller, id, body.publish_at, body.override_reason ?? null);
    if (body.draft !== true) {
      await checkApprovals(tx, caller, id, gatesOfPublishing(body.visibility), body.override_reason ?? null);
      await announce(tx, { what: 'post', post: id, actor: caller.ref });
      await notifyFollowers(tx, id);
    }
    return readChanged(tx, caller, ladder, id);
  });
  if (post === null) throw new Error('the created post is not readable by its author');
  return { status: 201, body: post };
});
