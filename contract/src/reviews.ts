import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Post } from './posts.ts';
import { Count, closed, nullable, page, pageQuery, Ref, Timestamp, Uuid } from './values.ts';

/** REVIEW-5: what a reviewer thinks of a post or of one of its files. */
export const ReviewDecision = Type.Enum(['approved', 'changes_requested']);
export type ReviewDecision = Static<typeof ReviewDecision>;

/** The most accounts that one review asks. */
export const mostReviewers = 100;
/** The most open reviews of one post. */
export const mostOpenReviews = 20;

const Note = Type.String({ minLength: 1, maxLength: 2000, pattern: '\\S' });

/** A decision on one file of the post. */
const FileDecision = closed({
  asset_id: Uuid,
  decision: ReviewDecision,
  note: Type.Optional(Note),
});

/** Someone who is asked, and their decision. */
export const Reviewer = closed({
  user: PostAuthor,
  decision: nullable(ReviewDecision),
  note: Type.Optional(Type.String()),
  /** The version of the post on which they decided. */
  version: nullable(Count),
  /** Whether the decision counts: after a new version of the post it does not (REVIEW-8). */
  counts: Type.Boolean(),
  /** Decisions on single files that the caller is shown. */
  assets: Type.Optional(Type.Array(FileDecision)),
  decided_at: nullable(Timestamp),
});
export type Reviewer = Static<typeof Reviewer>;

const facts = {
  id: Uuid,
  post_id: Uuid,
  note: nullable(Type.String()),
  due_at: nullable(Timestamp),
  state: Type.Enum(['open', 'closed']),
  /** The present version of the post: it grows with each new version of a file and each change of its members. */
  version: Count,
  requested_by: Type.Optional(PostAuthor),
  created_at: Timestamp,
  reviewers: Type.Array(Reviewer),
  /** Whether the caller may decide, and whether they may close it. */
  decidable: Type.Boolean(),
  closable: Type.Boolean(),
};

/** REVIEW-13: a review without its post, as events have it. */
export const ReviewNews = closed(facts);
export type ReviewNews = Static<typeof ReviewNews>;

/** REVIEW-1: people are asked to decide on a post. */
export const Review = closed({ ...facts, post: Post });
export type Review = Static<typeof Review>;

const postParams = closed({ id: Uuid });
const reviewParams = closed({ id: Uuid });

export const requestReview = operation({
  id: 'requestReview',
  method: 'POST',
  path: '/posts/{id}/reviews',
  tag: 'Reviews',
  summary: 'Ask for a review of a post',
  description:
    'Asks people and the members of teams to decide on the post, for those who may edit it. Every person named must be able to read the post, a draft as if it were published; otherwise the response is a 404. Of a team, those who may read it are asked.',
  door: 'signedIn',
  scope: 'posts.write',
  params: postParams,
  example: { reviewers: [2], due_at: '2026-12-01T17:00:00.000Z', note: 'Is the crop right?' },
  body: closed({
    reviewers: Type.Array(Type.Union([Ref, closed({ team_id: Uuid })]), {
      minItems: 1,
      maxItems: mostReviewers,
    }),
    due_at: Type.Optional(nullable(Timestamp)),
    note: Type.Optional(nullable(Note)),
  }),
  responses: { 201: Review },
  errors: [
    'not-author',
    'not-found',
    'reviewer-not-found',
    'team-not-found',
    'time-in-the-past',
    'too-many-reviewers',
    'too-many-reviews',
  ],
});

export const listPostReviews = operation({
  id: 'listPostReviews',
  method: 'GET',
  path: '/posts/{id}/reviews',
  tag: 'Reviews',
  summary: 'List the reviews of a post',
  description:
    'Lists the reviews of a post that the caller may read, newest first: all for those who may edit the post, and for others those in which they are asked. Returns 404 for a post that the caller may not read.',
  door: 'signedIn',
  scope: 'read',
  params: postParams,
  query: closed(pageQuery),
  responses: { 200: page(Review) },
  errors: ['not-found'],
});

export const getReview = operation({
  id: 'getReview',
  method: 'GET',
  path: '/reviews/{id}',
  tag: 'Reviews',
  summary: 'Get a review',
  description:
    'Returns the review with its post. While a review of a draft is open, its reviewers read the draft here as if it were published, and nowhere else. Everyone else who may not edit the post gets 404.',
  door: 'signedIn',
  scope: 'read',
  params: reviewParams,
  responses: { 200: Review },
  errors: ['not-found'],
});

export const closeReview = operation({
  id: 'closeReview',
  method: 'DELETE',
  path: '/reviews/{id}',
  tag: 'Reviews',
  summary: 'Close a review',
  description:
    'Ends the review, for those who may edit the post. Its decisions stay and can no longer be changed. Reviewers of a draft can no longer read it. Idempotent.',
  door: 'signedIn',
  scope: 'posts.write',
  params: reviewParams,
  responses: { 204: noContent },
  errors: ['not-author', 'not-found'],
});

export const decideReview = operation({
  id: 'decideReview',
  method: 'POST',
  path: '/reviews/{id}/decide',
  tag: 'Reviews',
  summary: 'Decide in a review',
  description:
    'Approves the post or requests changes, and the same for single files, for a reviewer who may still read the post. Replaces the reviewer’s earlier decision until the review is closed. With `version` the response is 409 if the post has another version by now.',
  door: 'signedIn',
  scope: 'comments.write',
  params: reviewParams,
  example: { decision: 'changes_requested', note: 'Please crop the second picture.' },
  body: closed({
    decision: ReviewDecision,
    note: Type.Optional(nullable(Note)),
    assets: Type.Optional(
      Type.Array(closed({ asset_id: Uuid, decision: ReviewDecision, note: Type.Optional(nullable(Note)) }), {
        maxItems: 200,
      }),
    ),
    /** The version of the post that the reviewer has seen. */
    version: Type.Optional(nullable(Count)),
  }),
  responses: { 200: Review },
  errors: [
    'not-found',
    'not-reviewer',
    'review-asset-not-found',
    'review-assets-repeated',
    'review-closed',
    'review-version-changed',
  ],
});

/** `waiting_for_me`: the caller has to decide. `waiting_for_others`: of the caller's own, others have to. */
export const ReviewQueue = Type.Enum(['waiting_for_me', 'waiting_for_others', 'done']);
export type ReviewQueue = Static<typeof ReviewQueue>;

export const listMyReviews = operation({
  id: 'listMyReviews',
  method: 'GET',
  path: '/account/reviews',
  tag: 'Reviews',
  summary: 'List reviews that concern the caller',
  description:
    'Lists reviews that the caller takes part in as reviewer, as the one who asked or as the author of the post, newest first. `waiting_for_me` needs the caller’s decision, `waiting_for_others` needs decisions that the caller waits for, and `done` is the rest.',
  door: 'signedIn',
  scope: 'read',
  query: closed({ ...pageQuery, state: Type.Optional(ReviewQueue) }),
  responses: { 200: page(Review) },
  errors: [],
});

/** Counting stops at this number. */
export const MOST_WAITING = 100;
const Waiting = Type.Integer({ minimum: 0, maximum: MOST_WAITING });

export const countMyReviews = operation({
  id: 'countMyReviews',
  method: 'GET',
  path: '/account/reviews/count',
  tag: 'Reviews',
  summary: 'Count reviews that wait',
  description: 'Counts the reviews that wait for the caller and those that wait for others, exact up to 100.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: closed({ waiting_for_me: Waiting, waiting_for_others: Waiting }) },
  errors: [],
});
