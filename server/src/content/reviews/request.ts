import {
  closeReview,
  mostOpenReviews,
  mostReviewers,
  type Review,
  requestReview,
} from '@vitrine/contract/reviews';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { callersOf } from '../../access/caller-of.ts';
import { possibleReviewers } from '../../access/posts.ts';
import { askableTeams, closableReviews, openReview, readableReviews } from '../../access/reviews.ts';
import { decidingMember } from '../../access/teams.ts';
import { handle, type RequestOf } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { announce } from '../../people/notifications/announce.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { JsonText } from '../../platform/http/answer.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { followPost } from '../approvals/post-content.ts';
import { sendReviewEvents } from '../approvals/review-events.ts';
import { lockEditable } from '../posts/edit.ts';
import { lockMembers, moveMembers } from '../workflow/member-states.ts';
import { writeChangedReview } from './show.ts';

type Body = RequestOf<typeof requestReview>['body'];

/** Returns the members of these teams; throws 404 for a team whose members the caller may not ask. */
async function membersOf(tx: Tx, caller: SignedIn, teamIds: readonly string[]): Promise<number[]> {
  if (teamIds.length === 0) return [];
  const known = await sql<{ id: string }>`
    select t.id from teams t where t.id = any(${[...teamIds]}::uuid[]) and ${askableTeams(caller)}`.execute(
    tx,
  );
  if (known.rows.length < teamIds.length) throw refuse('team-not-found');
  const { rows } = await sql<{ user_ref: number }>`
    select distinct tm.user_ref from team_members tm where tm.team_id = any(${[...teamIds]}::uuid[]) and ${decidingMember}
    order by tm.user_ref limit ${mostReviewers * 10}`.execute(tx);
  return rows.map(({ user_ref }) => user_ref);
}

/**
 * REVIEW-2: returns the accounts to ask, in the order of the request. Throws 404 for one that may not read the post. Of a
 * team, those who may read it are asked, except for its author and the caller.
 */
async function reviewersFor(
  tx: Tx,
  caller: SignedIn,
  post: { id: string; author: number },
  given: Body['reviewers'],
): Promise<number[]> {
  const named = [...new Set(given.filter((reviewer) => typeof reviewer === 'number'))];
  const teams = given.flatMap((reviewer) => (typeof reviewer === 'number' ? [] : [reviewer.team_id]));
  const inTeams = (await membersOf(tx, caller, [...new Set(teams)])).filter(
    (ref) => ref !== post.author && ref !== caller.ref && !named.includes(ref),
  );
  const wanted = [...named, ...inTeams];
  const callers = await callersOf(tx, sql`u.ref = any(${wanted}::bigint[])`, wanted.length);
  const able = new Set(await possibleReviewers(tx, callers, post.id));
  const unable = named.find((ref) => !able.has(ref));
  if (unable !== undefined) throw refuse('reviewer-not-found', { reviewer: unable });
  const asked = wanted.filter((ref) => able.has(ref));
  const [first] = teams;
  if (asked.length === 0) throw refuse('reviewer-not-found', { reviewer: first ?? '' });
  if (asked.length > mostReviewers) throw refuse('too-many-reviewers', { max: mostReviewers });
  return asked;
}

/** Inserts the review of a locked post. Too late for a reminder before it is due, there is none (REVIEW-11). */
async function insertReview(
  tx: Tx,
  caller: SignedIn,
  postId: string,
  { due_at: dueAt = null, note = null }: Body,
  reviewers: readonly number[],
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into reviews as r (post_id, requested_by_user_ref, note, due_at, reminded_before)
    select ${postId}::uuid, ${caller.ref}::bigint, ${note}::text, ${dueAt}::timestamptz,
      coalesce(${dueAt}::timestamptz < now() + interval '1 day', false)
    where (select count(*) from reviews r where r.post_id = ${postId} and ${openReview}) < ${mostOpenReviews}
    returning r.id`.execute(tx);
  const [review] = rows;
  if (review === undefined) throw refuse('too-many-reviews', { max: mostOpenReviews });
  await tx
    .insertInto('review_reviewers')
    .values(reviewers.map((ref, position) => ({ review_id: review.id, user_ref: ref, position })))
    .execute();
  return review.id;
}

/** `POST /posts/{id}/reviews`. */
export const request = handle(requestReview, async (deps, { caller, params, body }) => {
  checkInFuture('due_at', body.due_at ?? null);
  const review = await deps.db.transaction().execute(async (tx) => {
    const post = await lockEditable(tx, caller, params.id);
    const reviewers = await reviewersFor(tx, caller, post, body.reviewers);
    await lockMembers(tx, post.id);
    await followPost(tx, caller, post.id);
    const id = await insertReview(tx, caller, post.id, body, reviewers);
    await moveMembers(tx, caller, post.id, { to: 'review', review: id });
    await announce(tx, { what: 'review_requested', review: id, actor: caller.ref });
    await sendReviewEvents(tx, sql`r.id = ${id}`);
    await recordEvent(tx, caller, {
      event: 'review.requested',
      target: { kind: 'post', id: post.id },
      metadata: { review: id, reviewers, due_at: body.due_at ?? null },
    });
    return writeChangedReview(tx, deps, caller, id);
  });
  if (review === null) throw notFound();
  return { status: 201, body: new JsonText<Review>(review) };
});

/** `DELETE /reviews/{id}`. */
export const close = handle(closeReview, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ post_id: string; open: boolean; closable: boolean }>`
      select r.post_id, ${openReview} as open, ${closableReviews(caller)} as closable
      from reviews r join posts p on p.id = r.post_id
      where r.id = ${params.id} and ${readableReviews(caller)} for no key update of r`.execute(tx);
    const [row] = rows;
    if (row === undefined) throw notFound();
    if (!row.closable) throw refuse('not-author');
    if (!row.open) return;
    await tx
      .updateTable('reviews')
      .set({ closed_at: sql<string>`now()` })
      .where('id', '=', params.id)
      .execute();
    await sendReviewEvents(tx, sql`r.id = ${params.id}`);
    await recordEvent(tx, caller, {
      event: 'review.closed',
      target: { kind: 'post', id: row.post_id },
      metadata: { review: params.id },
    });
  });
  return { status: 204 };
});
