import {
  countMyReviews,
  getReview,
  listMyReviews,
  listPostReviews,
  MOST_WAITING,
  type Review,
  type ReviewQueue,
} from '@vitrine/contract/reviews';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { readablePosts } from '../../access/posts.ts';
import { awaitedDecision, openReview, readableReviews } from '../../access/reviews.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { JsonText } from '../../platform/http/answer.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { writeReview, writeReviews } from './show.ts';

type Predicate = RawBuilder<boolean>;

/** Some reviewers of a review `r` who meet a condition are still to decide. */
const awaits = (who: Predicate): Predicate => sql`exists (
  select from review_reviewers rr join users ru on ru.ref = rr.user_ref
  where rr.review_id = r.id and ${who} and ${awaitedDecision})`;

/** Reviews that the caller waits for: they asked, or wrote the post. */
const own = ({ ref }: SignedIn): Predicate =>
  sql`(r.requested_by_user_ref = ${ref} or p.author_user_ref = ${ref})`;

/** Reviews that concern the caller, by indexes. */
const concerning = ({ ref }: SignedIn): Predicate => sql`r.id in (
  select rr.review_id from review_reviewers rr where rr.user_ref = ${ref}
  union all select q.id from reviews q where q.requested_by_user_ref = ${ref}
  union all select q.id from reviews q join posts o on o.id = q.post_id where o.author_user_ref = ${ref})`;

/** REVIEW-10: the reviews of a queue. Each review that concerns the caller is in exactly one. */
function inQueue(caller: SignedIn, queue: ReviewQueue): Predicate {
  const mine: Predicate = sql`(${openReview} and ${awaits(sql`rr.user_ref = ${caller.ref}`)})`;
  const others: Predicate = sql`(${openReview} and ${own(caller)} and not ${mine} and ${awaits(sql`true`)})`;
  switch (queue) {
    case 'waiting_for_me':
      return mine;
    case 'waiting_for_others':
      return others;
    case 'done':
      return sql`(not ${mine} and not ${others})`;
  }
}

async function pageOf(deps: Deps, caller: SignedIn, which: Predicate, query: PageQuery) {
  const page = newestFirst(query, 'r.created_at', 'r.id');
  const rows = await writeReviews(deps, caller, sql`${which} and ${page.after}`, page.order);
  const cut = page.cut(rows, ({ created_at, id }) => ({ at: created_at, id }));
  const items = cut.rows.map(({ text }) => text).join(',');
  return new JsonText<{ items: Review[]; next_cursor: string | null }>(
    `{"items":[${items}],"next_cursor":${JSON.stringify(cut.next)}}`,
  );
}

/** `GET /account/reviews`. */
export const mine = handle(listMyReviews, async (deps, { caller, query }) => {
  const queue = query.state === undefined ? sql<boolean>`true` : inQueue(caller, query.state);
  return { status: 200, body: await pageOf(deps, caller, sql`${concerning(caller)} and ${queue}`, query) };
});

/** `GET /account/reviews/count`. */
export const counts = handle(countMyReviews, async ({ db }, { caller }) => {
  const count = (queue: ReviewQueue) => sql`(select count(*) from (
    select from reviews r join reviewed_posts rp on rp.post_id = r.post_id join posts p on p.id = r.post_id
    where ${concerning(caller)} and ${inQueue(caller, queue)} and ${readableReviews(caller)} limit ${MOST_WAITING}) x)`;
  const { rows } = await sql<{ waiting_for_me: number; waiting_for_others: number }>`
    select ${count('waiting_for_me')} as waiting_for_me, ${count('waiting_for_others')} as waiting_for_others`.execute(
    db,
  );
  return { status: 200, body: rows[0] ?? { waiting_for_me: 0, waiting_for_others: 0 } };
});

/** `GET /posts/{id}/reviews`. */
export const ofPost = handle(listPostReviews, async (deps, { caller, params, query }) => {
  const { rows } =
    await sql`select from posts p where p.id = ${params.id} and ${readablePosts(caller)}`.execute(deps.db);
  if (rows.length === 0) throw notFound();
  return { status: 200, body: await pageOf(deps, caller, sql`r.post_id = ${params.id}`, query) };
});

/** `GET /reviews/{id}`. */
export const get = handle(getReview, async (deps, { caller, params }) => {
  const review = await writeReview(deps, caller, params.id);
  if (review === null) throw notFound();
  return { status: 200, body: new JsonText<Review>(review) };
});
