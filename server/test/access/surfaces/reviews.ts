import { createHash, randomUUID } from 'node:crypto';
import type { LinkView } from '@vitrine/contract/link-visits';
import type { Review } from '@vitrine/contract/reviews';
import { sql } from 'kysely';
import type { Answered } from '../../support/client.ts';
import { must } from '../cells.ts';
import { type AssetCell, answerOf, editsPost, isServed, type PostCell, passesOn, readsPost } from '../due.ts';
import { byPosts, type CallerKind, optedIn } from '../matrix.ts';
import {
  accountDoor,
  commentDoor,
  itemsAt,
  labelOfAsset,
  labelOfCollection,
  labelOfPost,
  postDoor,
  readDoor,
  refusalOf,
  together,
} from '../send-requests.ts';
import { type Matrix, portion, usual } from '../setting.ts';
import type { Caller } from '../world.ts';
import { lookAtAsset } from './assets.ts';
import { ofCollection } from './links.ts';

/** Reviews: who asks for, reads, decides in and closes which, what reviewers see of drafts, and what needs approvals. */

export interface ReviewCell {
  id: string;
  post: PostCell;
  open: boolean;
  by: CallerKind;
  asked: readonly CallerKind[];
}

/** Kinds of callers who are asked, every second one in each review, by the rights that decide what they see. */
const reviewers: readonly CallerKind[] = [
  'stranger',
  'member of the team',
  'follower',
  'opted in to mature',
  'sharee',
  'posts.admin in the team',
  'author',
  'owner',
];

/** Callers whom the rules of reviews distinguish from somebody who is not asked. */
const distinguished: readonly CallerKind[] = [...reviewers, 'posts.admin in the team above', 'system.admin'];

const isOf =
  ({ world }: Matrix, caller: Caller) =>
  (kind: CallerKind) =>
    world.refOf(kind) === caller.ref;

const isAsked = (matrix: Matrix, caller: Caller, { asked }: ReviewCell) => asked.some(isOf(matrix, caller));

/** REVIEW-2: a draft as if it were published. */
const readsAsPublished = (who: CallerKind, post: PostCell) =>
  who !== 'anonymous' && readsPost(who, { ...post, draft: false });

/** REVIEW-3, REVIEW-4. */
function readsReview(matrix: Matrix, caller: Caller, review: ReviewCell): boolean {
  const { post, open } = review;
  if (editsPost(caller.kind, post)) return true;
  const reads = readsPost(caller.kind, post) || (open && readsAsPublished(caller.kind, post));
  return reads && isAsked(matrix, caller, review);
}

/** REVIEW-3: members of drafts under review that publishing would show to the reviewers. */
function isUnderReview(
  matrix: Matrix,
  caller: Caller,
  asset: AssetCell,
  reviews: readonly ReviewCell[],
): boolean {
  const { deleted, status, processing, sensitivity, usedBy } = asset;
  if (deleted || status !== 'active' || processing === 'failed' || sensitivity !== 'posts') return false;
  const drafts = usedBy.filter((post) => post.draft && passesOn(post, asset));
  return drafts.some(
    (post) =>
      readsAsPublished(caller.kind, post) &&
      reviews.some((review) => review.post.id === post.id && review.open && isAsked(matrix, caller, review)),
  );
}

/** Adds an open review, a closed one or both to each of these posts. */
export async function addReviews({ world }: Matrix): Promise<ReviewCell[]> {
  const { db } = world.library.deps;
  const follows = world.posts.filter(({ tag }) => tag === 'follows');
  const gallery = world.posts.filter(({ tag }) => tag === 'gallery');
  const posts = [...world.sample, ...gallery, ...follows];
  const reviews = posts.flatMap((post, place) =>
    [true, false].flatMap((open): ReviewCell[] => {
      // Of five posts, three have an open one, one a closed one, and one has both.
      if (open ? place % 5 === 4 : place % 5 !== 4 && place % 5 !== 1) return [];
      const asked = reviewers.filter((_, index) => (index + place + (open ? 0 : 1)) % 2 === 0);
      const by = Math.floor(place / 2) % 2 === 0 ? 'author' : 'system.admin';
      return [{ id: randomUUID(), post, open, by, asked }];
    }),
  );
  await sql`insert into reviewed_posts (post_id, content)
    select id, content_of_post(id) from unnest(${posts.map(({ id }) => id)}::uuid[]) id`.execute(db);
  await db
    .insertInto('reviews')
    .values(
      reviews.map(({ id, post, open, by }) => ({
        id,
        post_id: post.id,
        requested_by_user_ref: world.refOf(by),
        closed_at: open ? null : new Date().toISOString(),
      })),
    )
    .execute();
  await db
    .insertInto('review_reviewers')
    .values(
      reviews.flatMap(({ id, asked }) =>
        asked.map((kind, position) => ({ review_id: id, user_ref: world.refOf(kind), position })),
      ),
    )
    .execute();
  await sql`vacuum analyze reviewed_posts, reviews, review_reviewers`.execute(db);
  return reviews;
}

/** Removes the reviews, the approvals that acts need, and the links. */
export async function removeReviews({ world }: Matrix): Promise<void> {
  const { db } = world.library.deps;
  await db.deleteFrom('reviewed_posts').execute();
  await db.deleteFrom('settings').where('key', '=', 'approvals').execute();
  await db.deleteFrom('share_links').execute();
}

const labelOf = ({ post, open }: ReviewCell) => `${open ? 'open' : 'closed'} review of ${labelOfPost(post)}`;

/** The status, and the code of the error if there is one. */
const outcome = ({ status, headers }: Answered) =>
  [status, headers.get('vitrine-error')?.split(';')[0]?.trim()]
    .filter((part) => part !== undefined)
    .join(' ');

/** REVIEW-3, REVIEW-4: single reviews with their posts, and the reviews of a post. */
async function lookAtReview(matrix: Matrix, caller: Caller, review: ReviewCell, all: readonly ReviewCell[]) {
  const { ledger } = matrix;
  const { post } = review;
  const label = `${caller.name}: ${labelOf(review)}`;
  const { status, text } = await caller.visitor.send(`/reviews/${review.id}`);
  const refusal = refusalOf(caller, accountDoor);
  const due = refusal ?? (readsReview(matrix, caller, review) ? 200 : 404);
  ledger.hold(label, status, due);
  if (status === 200) {
    const shown: Review = JSON.parse(text);
    const got = shown.post.members.map(({ asset_id, restricted }) => `${asset_id} ${restricted}`);
    const members = post.members
      .filter(({ deleted }) => !deleted)
      .map((asset) => {
        const isShown = answerOf(caller.kind, asset) === 'shown' || isUnderReview(matrix, caller, asset, all);
        return `${asset.id} ${!isShown}`;
      });
    ledger.hold(`${label}: members`, got.join(), members.join());
    const decidable = review.open && isAsked(matrix, caller, review);
    ledger.hold(`${label}: decidable`, shown.decidable, decidable);
    ledger.hold(`${label}: closable`, shown.closable, review.open && editsPost(caller.kind, post));
  }
  const listed = await caller.visitor.send(`/posts/${post.id}/reviews`);
  const readsIt = readsPost(caller.kind, post);
  ledger.hold(`${label}: reviews of the post`, listed.status, refusal ?? (readsIt ? 200 : 404));
  if (listed.status !== 200) return;
  const { items }: { items: Review[] } = JSON.parse(listed.text);
  const own = all.filter((one) => one.post.id === post.id && readsReview(matrix, caller, one));
  const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).toSorted();
  ledger.hold(`${label}: which reviews of the post`, idsOf(items).join(), idsOf(own).join());
}

/** REVIEW-3: a review shows a draft and serves its members; their own addresses and that of the post do not change. */
async function lookElsewhere(matrix: Matrix, caller: Caller, review: ReviewCell, all: readonly ReviewCell[]) {
  const { ledger } = matrix;
  const { post } = review;
  const refusal = refusalOf(caller, readDoor);
  const { status } = await caller.visitor.send(`/posts/${post.id}`);
  const label = `${caller.name}: ${labelOf(review)}`;
  ledger.hold(`${label}: GET /posts/{id}`, status, refusal ?? (readsPost(caller.kind, post) ? 200 : 404));
  const asset = post.thumbnail ?? post.members[0];
  if (asset === undefined) return;
  await lookAtAsset(matrix, caller, asset, usual);
  const rated = !asset.mature || optedIn.includes(caller.kind);
  const served = isServed(caller.kind, asset, usual) || (rated && isUnderReview(matrix, caller, asset, all));
  for (const path of asset.rendered === 'nothing' ? ['file'] : ['file', 'variants/col']) {
    const known = await caller.visitor.send(`/assets/${asset.id}/${path}`, {
      headers: { 'if-none-match': '*' },
    });
    ledger.hold(`${label}: ${path} of ${labelOfAsset(asset)}`, known.status, refusal ?? (served ? 304 : 404));
  }
}

/** REVIEW-10: the queue of a review in `/account/reviews`; null if it is not there. Nobody has decided yet. */
function queueOf(matrix: Matrix, caller: Caller, review: ReviewCell): string | null {
  const asked = isAsked(matrix, caller, review);
  const own =
    isOf(matrix, caller)(review.by) || (caller.kind === 'author' && review.post.author === 'author');
  if (!readsReview(matrix, caller, review) || !(asked || own)) return null;
  if (!review.open) return 'done';
  return asked ? 'waiting_for_me' : 'waiting_for_others';
}

async function lookAtQueues(matrix: Matrix, caller: Caller, reviews: readonly ReviewCell[]) {
  const { ledger } = matrix;
  const path = '/account/reviews';
  const { status } = await caller.visitor.send(`${path}?limit=1`);
  ledger.hold(`${caller.name}: ${path}`, status, refusalOf(caller, accountDoor) ?? 200);
  if (status !== 200) return;
  for (const state of ['waiting_for_me', 'waiting_for_others', 'done']) {
    const items = await itemsAt<Review>(caller.visitor, path, { state });
    const shown = new Set(items.map(({ id }) => id));
    const due = reviews.filter((review) => queueOf(matrix, caller, review) === state);
    for (const review of due)
      ledger.hold(() => `${caller.name}: ${state}: ${labelOf(review)}`, shown.has(review.id), true);
    ledger.hold(`${caller.name}: ${state}: how many`, items.length, due.length);
  }
}

export async function lookAtReviews(matrix: Matrix, reviews: readonly ReviewCell[]) {
  await together([...matrix.world.callers.values()], async (caller) => {
    const part = portion(caller, reviews, distinguished);
    for (const [index, review] of part.entries()) {
      await lookAtReview(matrix, caller, review, reviews);
      if (review.post.draft || index % 4 === 0) await lookElsewhere(matrix, caller, review, reviews);
    }
    await lookAtQueues(matrix, caller, reviews);
  });
}

/** REVIEW-1, REVIEW-5, REVIEW-6: what each caller may do with a review, by requests that change nothing. */
async function tryToChange(matrix: Matrix, caller: Caller, review: ReviewCell, turn: number) {
  const { ledger } = matrix;
  const { post, open } = review;
  const who = caller.kind;
  const reads = readsReview(matrix, caller, review);
  const edits = editsPost(who, post);
  const label = `${caller.name}: ${labelOf(review)}`;

  const decide = { decision: 'approved', version: 999 };
  const decided = await caller.visitor.send(`/reviews/${review.id}/decide`, { method: 'POST', body: decide });
  const present = open ? '409 review-version-changed' : '409 review-closed';
  const deciding = isAsked(matrix, caller, review) ? present : '403 not-reviewer';
  const decideRefusal = refusalOf(caller, commentDoor);
  if (decideRefusal !== null) ledger.hold(`${label}: decide`, decided.status, decideRefusal);
  else ledger.hold(`${label}: decide`, outcome(decided), reads ? deciding : '404 not-found');

  const refusal = refusalOf(caller, postDoor);
  // Closing an open one would change it.
  if (turn % 2 === 0 && !(edits && open && refusal === null)) {
    const { status } = await caller.visitor.send(`/reviews/${review.id}`, { method: 'DELETE' });
    ledger.hold(`${label}: close`, status, refusal ?? (reads ? (edits ? 204 : 403) : 404));
  }
  if (turn % 2 === 0) return;
  const body = { reviewers: [987_654] };
  const asked = await caller.visitor.send(`/posts/${post.id}/reviews`, { method: 'POST', body });
  const asking = edits ? '404 reviewer-not-found' : readsPost(who, post) ? '403 not-author' : '404 not-found';
  if (refusal !== null) ledger.hold(`${label}: ask`, asked.status, refusal);
  else ledger.hold(`${label}: ask`, outcome(asked), asking);
}

/** REVIEW-2: who may be asked. */
async function tryToAsk({ world, ledger }: Matrix) {
  const admin = must(world.callers.get('system.admin'), 'administrator');
  const posts = world.sample.filter(({ deleted }) => !deleted);
  const kinds = byPosts.filter((kind) => kind !== 'anonymous');
  const all = posts.map((post, place) => ({ post, place }));
  await together(all, async ({ post, place }) => {
    for (const kind of kinds.filter((_, index) => (index + place) % 3 === 0)) {
      const body = { reviewers: [world.refOf(kind)] };
      const asked = await admin.visitor.send(`/posts/${post.id}/reviews`, { method: 'POST', body });
      const due = readsAsPublished(kind, post) ? '201' : '404 reviewer-not-found';
      ledger.hold(`asking ${kind} about ${labelOfPost(post)}`, outcome(asked), due);
    }
  });
}

export async function tryReviews(matrix: Matrix, reviews: readonly ReviewCell[]) {
  // One after the other, because many posts have the same member, which each decision locks.
  for (const caller of matrix.world.callers.values()) {
    for (const [turn, review] of portion(caller, reviews, distinguished).entries())
      await tryToChange(matrix, caller, review, turn);
  }
  await tryToAsk(matrix);
}

/** APPROVAL-2: decisions about a post, of which only the first kind approves its present version. */
const decisions = ['approved', 'by the author', 'of another version', 'then changed', 'none'] as const;

/** Requires an approval for publishing and for links, and returns the posts that have it. */
async function addApprovals({ world }: Matrix, posts: readonly PostCell[]): Promise<Set<PostCell>> {
  const { db } = world.library.deps;
  const required = { publish: { required: 1 }, public_audience: { required: 0 }, links: { required: 1 } };
  await db
    .insertInto('settings')
    .values({ key: 'approvals', value: JSON.stringify(required) })
    .execute();
  const another = world.refOf('content.read.all');
  const decided = posts.map((post, place) => ({
    post,
    how: must(decisions[place % decisions.length], 'kind'),
  }));
  for (const { post, how } of decided) {
    if (how === 'none') continue;
    const user_ref = how === 'by the author' ? must(world.refs[post.author], 'author') : another;
    // An account that was removed cannot decide.
    if (user_ref === world.refs.gone) continue;
    const approval = { decision: 'approved' as const, version: how === 'of another version' ? 2 : 1 };
    const later = { decision: 'changes_requested' as const, version: 1 };
    for (const [age, decision] of (how === 'then changed' ? [approval, later] : [approval]).entries()) {
      const id = randomUUID();
      const decided_at = new Date(Date.UTC(2026, 0, 4) + age * 1000).toISOString();
      await db.insertInto('reviews').values({ id, post_id: post.id, closed_at: decided_at }).execute();
      await db
        .insertInto('review_reviewers')
        .values({ review_id: id, user_ref, position: 0, ...decision, decided_at })
        .execute();
    }
  }
  return new Set(decided.flatMap(({ post, how }) => (how === 'approved' ? [post] : [])));
}

/** APPROVAL-1, APPROVAL-5: links and publications of those who may edit a post. */
async function tryGates({ ledger }: Matrix, caller: Caller, post: PostCell, approved: ReadonlySet<PostCell>) {
  const who = caller.kind;
  const refusal = refusalOf(caller, postDoor);
  const hold = async (path: string, body: object, due: string) => {
    const answer = await caller.visitor.send(`/posts/${post.id}/${path}`, { method: 'POST', body });
    const label = `${caller.name}: ${path} ${JSON.stringify(body)}: ${labelOfPost(post)}`;
    if (refusal !== null) ledger.hold(label, answer.status, refusal);
    else if (!editsPost(who, post))
      ledger.hold(label, outcome(answer), readsPost(who, post) ? '403 not-author' : '404 not-found');
    else ledger.hold(label, outcome(answer), due);
  };
  const isApproved = approved.has(post);
  await hold('links', {}, isApproved ? '201' : '409 approval-required');
  const overriding = isApproved || who === 'system.admin' ? '201' : '403 capability-missing';
  await hold('links', { override_reason: 'well' }, overriding);
  if (post.draft && !isApproved) await hold('publish', {}, '409 approval-required');
}

/** APPROVAL-4: links of collections show only posts with the approvals. */
async function lookThroughCollections(matrix: Matrix, approved: ReadonlySet<PostCell>) {
  const { world, ledger } = matrix;
  const shelves = world.collections;
  const tokens = shelves.map(({ id }) => createHash('sha256').update(id).digest('hex').slice(0, 32));
  await world.library.deps.db
    .insertInto('share_links')
    .values(
      shelves.map(({ id }, index) => ({
        id: randomUUID(),
        token_hash: createHash('sha256')
          .update(tokens[index] ?? '')
          .digest(),
        collection_id: id,
        created_by_user_ref: world.refOf('system.admin'),
      })),
    )
    .execute();
  let shown = 0;
  for (const [index, shelf] of shelves.entries()) {
    const { status, text } = await world.library.anonymous().send(`/links/${tokens[index]}?limit=200`);
    const gated = { ...shelf, posts: shelf.posts.filter((post) => approved.has(post)) };
    const { due } = ofCollection(matrix, gated);
    const label = `link with approvals: ${labelOfCollection(shelf)}`;
    ledger.hold(`${label}: status`, status, due === null ? 404 : 200);
    if (status !== 200) continue;
    const view: LinkView = JSON.parse(text);
    const seen = view.items.map(({ id }) => id).toSorted();
    ledger.hold(`${label}: assets`, seen.join(' '), (due ?? []).toSorted().join(' '));
    if (gated.posts.some(({ tag }) => tag === 'follows') && seen.length > 0) shown += 1;
  }
  ledger.hold('links with approvals that show files', shown > 3, true);
}

export async function tryApprovals(matrix: Matrix, reviews: readonly ReviewCell[]) {
  const posts = [...new Set(reviews.map(({ post }) => post))];
  // Links pass on no member of the other posts.
  const linked = matrix.world.collections.flatMap((shelf) =>
    shelf.posts.filter(({ tag }) => tag === 'follows'),
  );
  const approved = await addApprovals(matrix, [...new Set([...posts, ...linked])]);
  await together([...matrix.world.callers.values()], async (caller) => {
    for (const post of portion(caller, posts, byPosts)) await tryGates(matrix, caller, post, approved);
  });
  await lookThroughCollections(matrix, approved);
}
