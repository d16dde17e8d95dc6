import { type RawBuilder, sql } from 'kysely';
import { intact, servedAssets, shownAssets } from './assets.ts';
import { type Caller, holds, type SignedIn } from './caller.ts';
import { activeAccount, live } from './live.ts';
import { editablePosts, postsAsPublished, readablePosts } from './posts.ts';
import { ownTeam } from './teams.ts';

/**
 * Who reads which review, and what reviewers see of a draft (REVIEW-2, REVIEW-3). Predicates refer to `reviews r` and its
 * post `posts p`, or to `assets a`.
 */
type Predicate = RawBuilder<boolean>;

export const openReview: Predicate = sql`(r.closed_at is null)`;

/** The caller is one of those who are asked. */
function asked(caller: SignedIn): Predicate {
  return sql`exists (select from review_reviewers rr where rr.review_id = r.id and rr.user_ref = ${caller.ref})`;
}

/**
 * Reviews in which the caller may decide while they are open: they are asked, and may read the post; a draft as if it were
 * published, while the review is open.
 */
export function decidableReviews(caller: SignedIn): Predicate {
  return sql`(${asked(caller)}
    and (${readablePosts(caller)} or (${openReview} and ${postsAsPublished(caller)})))`;
}

/** Reviews that the caller may read: those of posts they may edit, and those in which they are asked. */
export function readableReviews(caller: SignedIn): Predicate {
  return sql`(${editablePosts(caller)} or ${decidableReviews(caller)})`;
}

/** Reviews that the caller may close. */
export function closableReviews(caller: SignedIn): Predicate {
  return editablePosts(caller);
}

/** REVIEW-3: drafts `p` under an open review in which the caller is asked, and which they could read once published. */
export function postsUnderReview(caller: SignedIn): Predicate {
  return sql`(p.draft and ${postsAsPublished(caller)} and exists (select from reviews r
    where r.post_id = p.id and ${openReview} and ${asked(caller)}))`;
}

/**
 * The newest open review in which the caller reads a post `p`, with the columns `id` and `due_at`; none for posts that they
 * read at `GET /posts/{id}`.
 */
export function reviewToRead(caller: SignedIn): RawBuilder<unknown> {
  return sql`select r.id, r.due_at from reviews r
    where r.post_id = p.id and p.draft and not coalesce(${readablePosts(caller)}, false) and ${postsAsPublished(caller)}
      and ${openReview} and ${asked(caller)}
    order by r.created_at desc, r.id desc limit 1`;
}

/**
 * Members `a` of drafts under review that publishing would show to the caller, who is asked (REVIEW-3): those of the author
 * or the team of the post with sensitivity `posts`. Publishing changes nothing for other sensitivities.
 */
function throughReview(caller: SignedIn): Predicate {
  return sql`(${live('a')} and a.status = 'active' and ${intact} and a.sensitivity = 'posts' and exists (
    select from review_reviewers rr join reviews r on r.id = rr.review_id join posts p on p.id = r.post_id
    where rr.user_ref = ${caller.ref} and ${openReview} and p.draft and ${postsAsPublished(caller)}
      and (p.cover_thumbnail_asset_id = a.id
        or exists (select from post_members m where m.post_id = p.id and m.asset_id = a.id))
      and (p.author_user_ref = a.owner_user_ref or p.team_id = a.team_id)))`;
}

/** Assets that a review shows to the caller with their columns. */
export function shownInReviews(caller: SignedIn): Predicate {
  return sql`(${shownAssets(caller)} or ${throughReview(caller)})`;
}

/**
 * The content rule, for reviewers of drafts, too: whose bytes are served. A reviewer could not judge what they cannot see.
 * Lists, searches and `GET /assets/{id}` do not use it.
 */
export function servedWithReviews(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return servedAssets(caller);
  const mature = caller.seesMature ? sql`true` : sql`not a.mature`;
  return sql`(${servedAssets(caller)} or (${throughReview(caller)} and ${mature}))`;
}

/** Teams `t` whose members the caller may ask: those whose members they may list, and their own. */
export function askableTeams(caller: SignedIn): Predicate {
  if (holds(caller, 'teams.read')) return ownTeam;
  return sql`(${ownTeam} and exists (
    select from team_members tm where tm.team_id = t.id and tm.user_ref = ${caller.ref}))`;
}

/** Whether changes of a post end the decisions about it (REVIEW-8). True unless configured. */
export const reopensOnChange = sql<boolean>`coalesce(
  (select s.value <> 'false'::jsonb from settings s where s.key = 'reopen_on_change'), true)`;

/** Whether the decision of a reviewer `rr` counts for the post with the row `rp` of `reviewed_posts`. */
export const countingDecision: Predicate = sql`(rr.decision is not null
  and (rr.version = rp.version or not ${reopensOnChange}))`;

/** Whether a reviewer `rr` is still to decide: their account `ru` is active and no decision of theirs counts. */
export const awaitedDecision: Predicate = sql`(${activeAccount('ru')} and not ${countingDecision})`;
