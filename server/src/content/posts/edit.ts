import { mostInPost } from '@vitrine/contract/limits';
import { type PostUpdate, updatePost } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { liveAsset } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { editablePosts, readablePosts } from '../../access/posts.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeers, notifyPeersOfVisibility } from '../../core/outbox/enqueue.ts';
import { registerTags } from '../../core/tag-register.ts';
import { recordEdit } from '../../people/audit/record-edit.ts';
import { announce } from '../../people/notifications/announce.ts';
import { checkAssignable } from '../../people/teams/assignable.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { checkRemovals, patchOf } from '../../platform/http/patch.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { asksForChange, checkUnchanged, nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { checkApprovals } from '../approvals/gates.ts';
import { followContent } from '../approvals/post-content.ts';
import { append } from '../collections/place.ts';
import { checkAssets, checkThumbnail } from './create.ts';
import { readChanged } from './get.ts';
import { placed } from './insert.ts';
import { schedule, unschedule } from './schedule.ts';

/** A post's row, read under its lock. */
export interface LockedPost {
  id: string;
  draft: boolean;
  visibility: string;
  updated_at: string;
  cover_asset_id: string | null;
  cover_thumbnail_asset_id: string | null;
  cover_focal_x: number | null;
  cover_focal_y: number | null;
  cover_focal_asset_id: string | null;
  team_id: string | null;
  author: number;
}

/** Locks a post the caller may change: 404 when they may not read it, 403 when they may only read it. */
export async function lockEditable(tx: Tx, caller: SignedIn, id: string): Promise<LockedPost> {
  const { rows } = await sql<LockedPost & { editable: boolean }>`
    select p.id, p.draft, p.visibility, p.updated_at, p.cover_asset_id, p.cover_thumbnail_asset_id, p.cover_focal_x,
      p.cover_focal_y, p.cover_focal_asset_id, p.team_id, p.author_user_ref as author,
      ${editablePosts(caller)} as editable
    from posts p where p.id = ${id} and ${readablePosts(caller)} for no key update of p`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  if (!row.editable) throw refuse('not-author');
  return row;
}

interface Member {
  asset_id: string;
  sort_order: number;
  /** In the trash: invisible to everyone, so the editor cannot name it, and it keeps its place (POST-20). */
  deleted: boolean;
}

async function readMembers(tx: Tx, postId: string): Promise<Member[]> {
  const { rows } = await sql<Member>`
    select m.asset_id, m.sort_order, not ${liveAsset} as deleted
    from post_members m join assets a on a.id = m.asset_id
    where m.post_id = ${postId} order by m.sort_order, m.asset_id`.execute(tx);
  return rows;
}

/** Checks the rules that need only the body (POST-25, HTTP-17). */
function checkShape(body: PostUpdate): void {
  checkRemovals(body, [
    'cover_asset_id',
    'cover_thumbnail_asset_id',
    'cover_focal_x',
    'publish_at',
    'team_id',
  ]);
  if ((body.cover_focal_x == null) !== (body.cover_focal_y == null)) {
    throw refuse('focal-point-incomplete');
  }
  const ids = body.members?.map((member) => member.asset_id) ?? [];
  if (new Set(ids).size !== ids.length) throw refuse('members-repeated');
}

/** Returns the members after the edit, including those in the trash. */
function membersAfter(body: PostUpdate, before: readonly Member[]): Member[] {
  if (body.members == null) return [...before];
  const named = placed(body.members).map((place) => ({
    ...place,
    deleted: before.some((former) => former.deleted && former.asset_id === place.asset_id),
  }));
  const kept = before.filter(
    (former) => former.deleted && !named.some((member) => member.asset_id === former.asset_id),
  );
  return [...named, ...kept].sort(
    (a, b) => a.sort_order - b.sort_order || (a.asset_id < b.asset_id ? -1 : 1),
  );
}

/** Returns the picture a card shows: the chosen cover while it is a live member, else the first live member. */
function resolvedCover(chosen: string | null, members: readonly Member[]): string | null {
  const live = members.filter((member) => !member.deleted);
  return live.find((member) => member.asset_id === chosen)?.asset_id ?? live[0]?.asset_id ?? null;
}

/**
 * POST-26: returns cover and focal point after the edit. A focal point belongs to one picture and is removed with it.
 */
function coverAfter(
  body: PostUpdate,
  locked: LockedPost,
  before: readonly Member[],
  after: readonly Member[],
) {
  const isMember = (id: string) => after.some((member) => member.asset_id === id);
  const given = body.cover_asset_id ?? null;
  if (given !== null && !isMember(given)) throw refuse('cover-not-member', { property: 'cover_asset_id' });
  const stands = locked.cover_asset_id !== null && isMember(locked.cover_asset_id);
  const chosen = body.clear_cover === true ? null : (given ?? (stands ? locked.cover_asset_id : null));
  const focal = focalAfter(
    body,
    locked,
    resolvedCover(chosen, after),
    resolvedCover(locked.cover_asset_id, before),
  );
  return { cover_asset_id: chosen, ...focal };
}

/** Returns the focal point after the edit, with its picture: newly given, kept with its picture, or removed. */
function focalAfter(body: PostUpdate, locked: LockedPost, shown: string | null, shownBefore: string | null) {
  if (body.cover_focal_x != null && body.cover_focal_y != null) {
    return {
      cover_focal_x: body.cover_focal_x,
      cover_focal_y: body.cover_focal_y,
      cover_focal_asset_id: shown,
    };
  }
  const stays = shown === shownBefore && body.clear_cover_focal !== true;
  return {
    cover_focal_x: stays ? locked.cover_focal_x : null,
    cover_focal_y: stays ? locked.cover_focal_y : null,
    cover_focal_asset_id: stays ? locked.cover_focal_asset_id : null,
  };
}

async function replaceMembers(tx: Tx, postId: string, members: readonly Member[]): Promise<void> {
  await tx.deleteFrom('post_members').where('post_id', '=', postId).execute();
  const rows = members.map(({ asset_id, sort_order }) => ({ post_id: postId, asset_id, sort_order }));
  await tx.insertInto('post_members').values(rows).execute();
}

/** Throws 404 for a new member or a new thumbnail that the editor does not see; present ones may stay what they are (POST-19). */
async function checkNamed(
  tx: Tx,
  caller: SignedIn,
  body: PostUpdate,
  locked: LockedPost,
  before: readonly Member[],
) {
  const known = new Set(before.map((member) => member.asset_id));
  const thumbnail = body.cover_thumbnail_asset_id ?? locked.cover_thumbnail_asset_id;
  await checkAssets(tx, caller, [
    ...(body.members ?? []).map((member) => member.asset_id).filter((id) => !known.has(id)),
    ...(thumbnail === null || thumbnail === locked.cover_thumbnail_asset_id ? [] : [thumbnail]),
  ]);
  if (body.team_id != null && body.team_id !== locked.team_id)
    await checkAssignable(tx, caller, body.team_id);
}

/** Applies the body to a locked post. */
async function change(
  tx: Tx,
  caller: SignedIn,
  body: PostUpdate,
  locked: LockedPost,
  overrideReason: string | null,
): Promise<void> {
  const before = await readMembers(tx, locked.id);
  await checkNamed(tx, caller, body, locked, before);
  const after = membersAfter(body, before);
  // Files in the trash may return, and peers accept no more than this.
  if (after.length > Math.max(mostInPost, before.length)) throw refuse('members-full', { max: mostInPost });
  if (body.members != null || body.cover_thumbnail_asset_id != null) {
    const kept = body.clear_cover_thumbnail === true ? null : locked.cover_thumbnail_asset_id;
    checkThumbnail(
      body.cover_thumbnail_asset_id ?? kept,
      after.map((member) => member.asset_id),
    );
  }
  const cover = coverAfter(body, locked, before, after);
  if (body.members != null) {
    await replaceMembers(tx, locked.id, after);
    await followContent(tx, caller, sql`select ${locked.id}::uuid`);
  }
  await tx
    .updateTable('posts')
    .set({
      ...cover,
      ...patchOf(body, [
        'title',
        'description',
        'visibility',
        'comments_enabled',
        'team_id',
        'cover_thumbnail_asset_id',
      ]),
      ...(body.tags == null ? {} : { tags: await registerTags(tx, body.tags) }),
      updated_at: nextUpdatedAt,
    })
    .where('id', '=', locked.id)
    .execute();
  if (body.publish_at != null) await schedule(tx, caller, locked.id, body.publish_at, overrideReason);
  if (body.clear_publish_at === true) await unschedule(tx, locked.id);
  if (!locked.draft) await announce(tx, { what: 'post', post: locked.id, actor: caller.ref });
}

/** `PATCH /posts/{id}`: absent and null leave alone, `clear_*` removes (HTTP-17). */
export const edit = handle(updatePost, async ({ db, ladder }, { caller, params, body }) => {
  checkShape(body);
  // A place in a collection is not a property of the post.
  const { collection_id: collectionId, override_reason: overrideReason, ...changes } = body;
  const post = await db.transaction().execute(async (tx) => {
    const locked = await lockEditable(tx, caller, params.id);
    checkUnchanged(body.if_unchanged_since, locked.updated_at);
    if (body.draft != null && body.draft !== locked.draft) {
      throw refuse('draft-unchangeable');
    }
    if (body.publish_at != null && !locked.draft) throw refuse('post-not-draft');
    if (asksForChange(changes)) {
      await change(tx, caller, changes, locked, overrideReason ?? null);
      if (!locked.draft && body.visibility === 'public' && locked.visibility !== 'public')
        await checkApprovals(tx, caller, locked.id, ['public_audience'], overrideReason ?? null);
      const update = { activity: 'update' as const, actorRef: caller.ref };
      if (body.visibility != null && body.visibility !== locked.visibility)
        await notifyPeersOfVisibility(tx, locked.id, update);
      else await notifyPeers(tx, { ...update, kind: 'post', objectId: locked.id });
      await recordEdit(tx, caller, { kind: 'post', id: locked.id, owner: locked.author }, changes);
    }
    if (collectionId != null) await append(tx, caller, collectionId, locked.id);
    // Refuses an edit that would make the post unreadable for its editor.
    const edited = await readChanged(tx, caller, ladder, params.id);
    if (edited === null) throw notFound();
    return edited;
  });
  return { status: 200, body: post };
});
