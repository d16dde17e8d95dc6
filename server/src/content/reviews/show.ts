import type { PostAuthor } from '@vitrine/contract/identity';
import type { Reviewer, ReviewNews } from '@vitrine/contract/reviews';
import { type RawBuilder, sql } from 'kysely';
import { liveAsset } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { identityJson } from '../../access/identities.ts';
import { postsAsPublished } from '../../access/posts.ts';
import {
  closableReviews,
  countingDecision,
  decidableReviews,
  openReview,
  readableReviews,
  shownInReviews,
} from '../../access/reviews.ts';
import type { Deps } from '../../core/deps.ts';
import { noTexts } from '../../core/kept-texts.ts';
import { type Columns, type Database, timestampOfJson } from '../../platform/database/pool.ts';
import { type Writing, writtenPosts } from '../posts/write-page.ts';

interface ReviewerRow {
  user: PostAuthor;
  decision: Reviewer['decision'];
  note: string | null;
  version: number | null;
  counts: boolean;
  decided_at: string | null;
  assets: { asset_id: string; decision: 'approved' | 'changes_requested'; note: string | null }[] | null;
}

interface ReviewRow
  extends Columns<'reviews', 'id' | 'post_id' | 'note' | 'due_at' | 'created_at' | 'closed_at'> {
  version: number;
  requested_by: PostAuthor | null;
  reviewers: ReviewerRow[] | null;
  decidable: boolean;
  closable: boolean;
}

/** Those who are asked in a review `r`, in the order in which they were named, with their decisions. */
function reviewersOf(caller: SignedIn): RawBuilder<unknown> {
  return sql`(select json_agg(json_build_object('user', ${identityJson(caller, 'ru')}, 'decision', rr.decision,
      'note', rr.note, 'version', rr.version, 'counts', ${countingDecision}, 'decided_at', rr.decided_at,
      'assets', (select json_agg(json_build_object('asset_id', fd.asset_id, 'decision', fd.decision, 'note', fd.note)
          order by m.sort_order, fd.asset_id)
        from review_file_decisions fd join post_members m on m.asset_id = fd.asset_id and m.post_id = r.post_id
          join assets a on a.id = fd.asset_id and ${liveAsset} and ${shownInReviews(caller)}
        where fd.review_id = rr.review_id and fd.user_ref = rr.user_ref))
      order by rr.position, rr.user_ref)
    from review_reviewers rr join users ru on ru.ref = rr.user_ref where rr.review_id = r.id)`;
}

function showReviewer({ user, decision, note, version, counts, decided_at, assets }: ReviewerRow): Reviewer {
  const files = assets?.map(({ note: own, ...file }) => (own === null ? file : { ...file, note: own }));
  return {
    user,
    decision,
    ...(note === null ? {} : { note }),
    version,
    counts,
    ...(files === undefined ? {} : { assets: files }),
    decided_at: decided_at === null ? null : timestampOfJson(decided_at),
  };
}

function show(row: ReviewRow): ReviewNews {
  return {
    id: row.id,
    post_id: row.post_id,
    note: row.note,
    due_at: row.due_at,
    state: row.closed_at === null ? 'open' : 'closed',
    version: row.version,
    ...(row.requested_by === null ? {} : { requested_by: row.requested_by }),
    created_at: row.created_at,
    reviewers: (row.reviewers ?? []).map(showReviewer),
    decidable: row.decidable,
    closable: row.closable,
  };
}

/** Reads the readable reviews `r` of posts `p` that meet a condition. */
async function readReviews(
  db: Database,
  caller: SignedIn,
  which: RawBuilder<boolean>,
  rest: RawBuilder<unknown> = sql``,
): Promise<ReviewRow[]> {
  const { rows } = await sql<ReviewRow>`
    select r.id, r.post_id, r.note, r.due_at, r.created_at, r.closed_at, rp.version,
      ${identityJson(caller, 'qu')} as requested_by, ${reviewersOf(caller)} as reviewers,
      (${openReview} and ${decidableReviews(caller)}) is true as decidable,
      (${openReview} and ${closableReviews(caller)}) is true as closable
    from reviews r join reviewed_posts rp on rp.post_id = r.post_id join posts p on p.id = r.post_id
      left join users qu on qu.ref = r.requested_by_user_ref
    where ${which} and ${readableReviews(caller)} ${rest}`.execute(db);
  return rows;
}

/** Returns a review without its post; null for callers who may not read it. */
export async function readReviewNews(db: Database, caller: SignedIn, id: string): Promise<ReviewNews | null> {
  const [row] = await readReviews(db, caller, sql`r.id = ${id}`);
  return row === undefined ? null : show(row);
}

/** A review as JSON, with its place in lists. */
interface WrittenReview {
  id: string;
  created_at: string;
  text: string;
}

/**
 * Returns the readable reviews `r` of posts `p` that meet a condition, each with its post as reviewers see it (REVIEW-3).
 * Takes one statement more than a page of posts.
 */
export async function writeReviews(
  deps: Writing,
  caller: SignedIn,
  which: RawBuilder<boolean>,
  rest: RawBuilder<unknown> = sql``,
): Promise<WrittenReview[]> {
  const rows = await readReviews(deps.db, caller, which, rest);
  const posts = await writtenPosts(deps, caller, [...new Set(rows.map(({ post_id }) => post_id))], true, {
    posts: postsAsPublished(caller),
    members: shownInReviews(caller),
  });
  return rows.flatMap((row) => {
    const post = posts.get(row.post_id);
    if (post === undefined) return [];
    const text = `${JSON.stringify(show(row)).slice(0, -1)},"post":${post}}`;
    return [{ id: row.id, created_at: row.created_at, text }];
  });
}

/** Returns one review as JSON; null for callers who may not read it. */
export async function writeReview(deps: Writing, caller: SignedIn, id: string): Promise<string | null> {
  const [review] = await writeReviews(deps, caller, sql`r.id = ${id}`);
  return review?.text ?? null;
}

/** The same in the transaction that has changed it. */
export function writeChangedReview(
  db: Database,
  { ladder }: Pick<Deps, 'ladder'>,
  caller: SignedIn,
  id: string,
): Promise<string | null> {
  return writeReview({ db, ladder, texts: noTexts, postTexts: noTexts }, caller, id);
}
