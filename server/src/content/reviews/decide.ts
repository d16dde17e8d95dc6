import { decideReview, type Review } from '@vitrine/contract/reviews';
import { sql } from 'kysely';
import { liveAsset } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { decidableReviews, openReview, readableReviews, shownInReviews } from '../../access/reviews.ts';
import { handle, type RequestOf } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { announce } from '../../people/notifications/announce.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { JsonText } from '../../platform/http/answer.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { followPost } from '../approvals/post-content.ts';
import { sendReviewEvents } from '../approvals/review-events.ts';
import { lockMembers, moveMembers } from '../workflow/member-states.ts';
import { isComplete } from './complete.ts';
import { writeChangedReview } from './show.ts';

type Body = RequestOf<typeof decideReview>['body'];

interface Decidable {
  post_id: string;
  open: boolean;
  decidable: boolean;
}

/** Reads a review that the caller may decide in; 404 when they may not read it, 403 when they are not asked. */
async function readDecidable(db: Database, caller: SignedIn, id: string, lock = sql``): Promise<Decidable> {
  const { rows } = await sql<Decidable>`
    select r.post_id, ${openReview} as open, ${decidableReviews(caller)} as decidable
    from reviews r join posts p on p.id = r.post_id
    where r.id = ${id} and ${readableReviews(caller)} ${lock}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw notFound();
  if (!row.decidable) throw refuse('not-reviewer');
  if (!row.open) throw refuse('review-closed');
  return row;
}

/** Replaces the caller's decisions on files. Throws 404 for one that is no member, or that the caller is not shown. */
async function decideFiles(tx: Tx, caller: SignedIn, id: string, postId: string, { assets = [] }: Body) {
  const ids = assets.map(({ asset_id }) => asset_id);
  if (new Set(ids).size < ids.length) throw refuse('review-assets-repeated');
  const { rows } = await sql<{ id: string }>`
    select a.id from post_members m join assets a on a.id = m.asset_id
    where m.post_id = ${postId} and a.id = any(${ids}::uuid[]) and ${liveAsset} and ${shownInReviews(caller)}`.execute(
    tx,
  );
  const known = new Set(rows.map((row) => row.id));
  const unknown = ids.find((asset) => !known.has(asset));
  if (unknown !== undefined) throw refuse('review-asset-not-found', { asset: unknown });
  await tx
    .deleteFrom('review_file_decisions')
    .where('review_id', '=', id)
    .where('user_ref', '=', caller.ref)
    .execute();
  if (assets.length === 0) return;
  await tx
    .insertInto('review_file_decisions')
    .values(
      assets.map(({ asset_id, decision, note }) => ({
        review_id: id,
        user_ref: caller.ref,
        asset_id,
        decision,
        note: note ?? null,
      })),
    )
    .execute();
}

/** REVIEW-9: the last approval moves the members to `approved`, a request for changes back to `review`. */
async function followStates(tx: Tx, caller: SignedIn, id: string, postId: string): Promise<void> {
  if (await isComplete(tx, id)) await moveMembers(tx, caller, postId, { to: 'approved', review: id });
  else await moveMembers(tx, caller, postId, { to: 'review', from: 'approved', review: id });
}

/** Records a decision on the present version of the post, whose members are locked: a new version waits. */
async function decide(tx: Tx, caller: SignedIn, id: string, body: Body): Promise<void> {
  const { post_id: postId } = await readDecidable(tx, caller, id);
  await lockMembers(tx, postId);
  const version = await followPost(tx, caller, postId);
  // Again, under the locks: the review may have been closed, or the caller may have lost access.
  await readDecidable(tx, caller, id, sql`for no key update of r`);
  if (body.version != null && body.version !== version) throw refuse('review-version-changed', { version });
  await tx
    .updateTable('review_reviewers')
    .set({
      decision: body.decision,
      note: body.note ?? null,
      version,
      decided_at: sql<string>`clock_timestamp()`,
    })
    .where('review_id', '=', id)
    .where('user_ref', '=', caller.ref)
    .execute();
  await decideFiles(tx, caller, id, postId, body);
  await followStates(tx, caller, id, postId);
  const { rows } = await sql<{ at: string }>`select rr.decided_at as at from review_reviewers rr
    where rr.review_id = ${id} and rr.user_ref = ${caller.ref} and rr.decided_at is not null`.execute(tx);
  const at = rows[0]?.at ?? '';
  await announce(tx, { what: 'review_decided', review: id, actor: caller.ref, at, decision: body.decision });
  await sendReviewEvents(tx, sql`r.id = ${id}`);
  await recordEvent(tx, caller, {
    event: 'review.decided',
    target: { kind: 'post', id: postId },
    metadata: { review: id, decision: body.decision, version },
  });
}

/** `POST /reviews/{id}/decide`. */
export const decideOn = handle(decideReview, async (deps, { caller, params, body }) => {
  const review = await deps.db.transaction().execute(async (tx) => {
    await decide(tx, caller, params.id, body);
    return writeChangedReview(tx, deps, caller, params.id);
  });
  if (review === null) throw notFound();
  return { status: 200, body: new JsonText<Review>(review) };
});
