import type { About } from '../described-world.ts';
import { dueInFeed, isInFeed, type PostCell } from '../due.ts';
import { lookOfPost, type SeenPost } from '../responses.ts';
import { labelOfPost, readDoor, refusalOf, together } from '../send-requests.ts';
import { usual } from '../setting.ts';
import type { Caller } from '../world.ts';

/** The featured list, filtered like each caller's feed. */

/** Without the values that this part of the matrix shows on cards. */
const withoutCards = (text: string): SeenPost[] =>
  JSON.parse(text, (key, value) => (key === 'card_fields' ? undefined : value));

const administersPosts = ({ name }: Caller) =>
  ['posts.admin', 'administrator by an inherited role', 'system.admin'].includes(name);

/** More posts than any feed contains: drafts and deleted posts keep their position. */
export async function fillRail({ world }: About): Promise<PostCell[]> {
  const gallery = world.posts.filter(({ tag }) => tag === 'gallery');
  const sample = world.posts.filter(({ tag, team }) => tag === 'sample' && team !== 'elsewhere');
  const rail: PostCell[] = [...gallery, ...sample.filter((_, index) => index % 3 === 0)];
  await world.library.deps.db
    .insertInto('featured_posts')
    .values(rail.map(({ id }, position) => ({ post_id: id, position })))
    .execute();
  return rail;
}

export async function lookAtFeatured({ ledger, callers }: About, rail: readonly PostCell[]) {
  await together(callers, async (caller) => {
    const who = caller.kind;
    const { status, text } = await caller.visitor.send('/posts/featured');
    ledger.hold(`${caller.name}: featured: status`, status, refusalOf(caller, readDoor) ?? 200);
    if (status === 200) {
      const due = rail.filter((post) => isInFeed(who, post)).map((post) => dueInFeed(who, post, usual));
      const got = withoutCards(text).map(lookOfPost);
      ledger.hold(`${caller.name}: featured`, got.join('\n\n'), due.join('\n\n'));
    }
    for (const post of rail.filter(({ deleted, draft }) => deleted || draft).slice(0, 5)) {
      const path = `/posts/${post.id}/featured`;
      const refusal = caller.name === 'anonymous' ? 401 : administersPosts(caller) ? null : 403;
      const put = await caller.visitor.send(path, { method: 'PUT' });
      const due = refusal ?? (post.deleted ? 404 : 409);
      ledger.hold(`${caller.name}: feature ${labelOfPost(post)}`, put.status, due);
    }
    const body = { post_ids: rail.map(({ id }) => id) };
    const order = await caller.visitor.status('PUT', '/posts/featured/order', body);
    // Not all of these are live, so no caller sees exactly this list.
    const due = caller.name === 'anonymous' ? 401 : administersPosts(caller) ? 409 : 403;
    ledger.hold(`${caller.name}: order the rail`, order, due);
  });
}
