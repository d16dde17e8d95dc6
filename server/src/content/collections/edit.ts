import { type Collection, type CollectionUpdate, updateCollection } from '@vitrine/contract/collections';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { arrangedPosts } from '../../access/collections.ts';
import { handle } from '../../core/handle.ts';
import { returnCollection } from '../../core/outbox/enqueue.ts';
import { recordEdit } from '../../people/audit/record-edit.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { checkRemovals, patchOf } from '../../platform/http/patch.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { asksForChange, checkUnchanged, nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { storedFilling } from './filling.ts';
import { type LockedCollection, lockCollection } from './lock.ts';
import { showCollection } from './show.ts';

/** Checks the rules that need only the body (HTTP-17). */
function checkShape(body: CollectionUpdate): void {
  checkRemovals(body, ['cover_post_id', 'cover_focal_x', 'expires_at', 'query']);
  if ((body.cover_focal_x == null) !== (body.cover_focal_y == null)) {
    throw refuse('focal-point-incomplete');
  }
  checkInFuture('expires_at', body.expires_at ?? null);
}

/** Throws 400 unless the cover is one of the collection's posts that the caller reads. */
async function checkCover(tx: Tx, caller: SignedIn, collectionId: string, postId: string): Promise<void> {
  const { rows } = await sql`select from collection_posts cp join posts p on p.id = cp.post_id
    where cp.collection_id = ${collectionId} and cp.post_id = ${postId} and ${arrangedPosts(caller)}`.execute(
    tx,
  );
  if (rows.length === 0) throw refuse('cover-not-post', { property: 'cover_post_id' });
}

function coverAfter(body: CollectionUpdate, locked: LockedCollection): string | null {
  if (body.clear_cover === true) return null;
  return body.cover_post_id ?? locked.cover_post_id;
}

/** Returns the stored form of the new query, null to remove it, undefined to keep it. */
async function queryAfter(
  tx: Tx,
  caller: SignedIn,
  { query, clear_query }: CollectionUpdate,
): Promise<string | null | undefined> {
  if (clear_query === true) return null;
  if (query == null) return undefined;
  return storedFilling(tx, caller, query);
}

/** Stores the focal point with the first picture that the editor sees. */
async function setFocal(tx: Tx, edited: Collection, x: number, y: number): Promise<void> {
  const first = edited.covers[0];
  if (first === undefined) throw refuse('focal-point-without-cover');
  await tx
    .updateTable('collections')
    .set({ cover_focal_x: x, cover_focal_y: y, cover_focal_asset_id: first.asset_id })
    .where('id', '=', edited.id)
    .execute();
}

/** `PATCH /collections/{id}`: absent and null change nothing, `clear_*` removes. */
export const edit = handle(updateCollection, async ({ db }, { caller, params, body }) => {
  checkShape(body);
  const collection = await db.transaction().execute(async (tx) => {
    const locked = await lockCollection(tx, caller, params.id);
    checkUnchanged(body.if_unchanged_since, locked.updated_at);
    if (!asksForChange(body)) return showCollection(tx, caller, locked.id);
    if (body.cover_post_id != null) await checkCover(tx, caller, locked.id, body.cover_post_id);
    const query = await queryAfter(tx, caller, body);
    const cover = coverAfter(body, locked);
    const losesFocal = body.clear_cover_focal === true || cover !== locked.cover_post_id;
    await tx
      .updateTable('collections')
      .set({
        ...patchOf(body, ['name', 'description', 'visibility', 'expires_at']),
        ...(query === undefined ? {} : { query }),
        cover_post_id: cover,
        ...(losesFocal ? { cover_focal_x: null, cover_focal_y: null, cover_focal_asset_id: null } : {}),
        updated_at: nextUpdatedAt,
      })
      .where('id', '=', locked.id)
      .execute();
    await returnCollection(tx, locked.id, 'update', caller.ref);
    await recordEdit(tx, caller, { kind: 'collection', id: locked.id, owner: locked.owner }, body);
    const edited = await showCollection(tx, caller, locked.id);
    if (body.cover_focal_x == null || body.cover_focal_y == null) return edited;
    await setFocal(tx, edited, body.cover_focal_x, body.cover_focal_y);
    return { ...edited, cover_focal_x: body.cover_focal_x, cover_focal_y: body.cover_focal_y };
  });
  return { status: 200, body: collection };
});
