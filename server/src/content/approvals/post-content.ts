import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { openReview, reopensOnChange } from '../../access/reviews.ts';
import { enqueueAll } from '../../core/job-table.ts';
import { announceAll } from '../../people/notifications/announce.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { moveMembers } from '../workflow/member-states.ts';
import { sendReviewEvents } from './review-events.ts';

/** Makes a post one whose content is followed, and returns the version of its content. */
export async function followPost(tx: Tx, actor: SignedIn, postId: string): Promise<number> {
  await sql`insert into reviewed_posts (post_id, content) values (${postId}, content_of_post(${postId}))
    on conflict (post_id) do nothing`.execute(tx);
  await followContent(tx, actor, sql`select ${postId}::uuid`);
  const row = await tx
    .selectFrom('reviewed_posts')
    .select('version')
    .where('post_id', '=', postId)
    .executeTakeFirstOrThrow();
  return row.version;
}

interface Reopened {
  post_id: string;
  version: number;
  /** The open reviews in which somebody has decided. */
  reviews: string[] | null;
}

/** Moves the members of these posts back to `review`, and announces their decided reviews to the reviewers. */
async function reopen(tx: Tx, actor: SignedIn, rows: readonly Reopened[]): Promise<void> {
  const posts = rows.flatMap(({ post_id: post, reviews }) => {
    const [review] = reviews ?? [];
    return review === undefined ? [] : [{ post, review }];
  });
  for (const { post, review } of posts)
    await moveMembers(tx, actor, post, { to: 'review', from: 'approved', review });
  await enqueueAll(
    tx,
    'reopen-reviews',
    posts.map((payload) => ({ payload, key: `reopen-reviews:${payload.post}` })),
  );
  const events = rows.flatMap(({ version, reviews }) =>
    (reviews ?? []).map((review) => ({
      what: 'review_reopened' as const,
      review,
      version,
      actor: actor.ref,
    })),
  );
  await announceAll(tx, events);
}

/**
 * REVIEW-8: gives reviewed posts whose members or files have changed the next version, and reopens their reviews. Called
 * by everything that changes them, with a query for the ids of posts that may be concerned. The locks come first: the
 * next statement then sees what concurrent changes have committed.
 */
export async function followContent(tx: Tx, actor: SignedIn, posts: RawBuilder<unknown>): Promise<void> {
  const locked = await sql`
    select from reviewed_posts where post_id in (${posts}) order by post_id for update`.execute(tx);
  if (locked.rows.length === 0) return;
  const { rows } = await sql<Reopened>`
    update reviewed_posts rp set version = rp.version + 1, content = content_of_post(rp.post_id)
    where rp.post_id in (${posts}) and rp.content <> content_of_post(rp.post_id)
    returning rp.post_id, rp.version, case when ${reopensOnChange} then array(
      select r.id from reviews r where r.post_id = rp.post_id and ${openReview} and exists (
        select from review_reviewers rr where rr.review_id = r.id and rr.decision is not null) order by r.id) end as reviews`.execute(
    tx,
  );
  await sendReviewEvents(
    tx,
    sql`r.post_id = any(${rows.map((row) => row.post_id)}::uuid[]) and ${openReview}`,
  );
  await reopen(tx, actor, rows);
}

/** A query for the posts that contain one of these assets. */
export function postsWith(assetIds: readonly string[]): RawBuilder<unknown> {
  return sql`select m.post_id from post_members m where m.asset_id = any(${[...assetIds]}::uuid[])`;
}
