import {
  featurePost,
  listFeatured,
  orderFeatured,
  RAIL_LENGTH,
  unfeaturePost,
} from '@vitrine/contract/featured';
import { sql } from 'kysely';
import { feedPosts, hidesRestricted } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { publishedPost, readablePosts } from '../../access/posts.ts';
import { handle } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { writePosts, writtenList } from './write-page.ts';

/**
 * Lists the featured posts as the caller's feed shows them: without posts that are deleted, unpublished or unreadable.
 */
async function shownRail(db: Database, caller: Caller): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select p.id from featured_posts r join posts p on p.id = r.post_id
    where ${feedPosts(caller)} order by r.position, p.id limit ${RAIL_LENGTH}`.execute(db);
  return rows.map((row) => row.id);
}

export const list = handle(listFeatured, async (deps, { caller }) => {
  const ids = await shownRail(deps.db, caller);
  return { status: 200, body: writtenList(await writePosts(deps, caller, ids, !hidesRestricted(caller))) };
});

interface Place {
  post_id: string;
  /** Neither in the trash nor unpublished: what operators see of the featured list. */
  live: boolean;
}

/** Returns the whole featured list in order, under a lock that serialises changes. */
async function lockRail(tx: Tx): Promise<Place[]> {
  await takeLock(tx, 'featuredList');
  const { rows } = await sql<Place>`
    select r.post_id, ${publishedPost} as live
    from featured_posts r join posts p on p.id = r.post_id order by r.position, p.id`.execute(tx);
  return rows;
}

async function writeRail(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`update featured_posts r set position = t.place - 1
    from unnest(${[...ids]}::uuid[]) with ordinality as t (id, place)
    where r.post_id = t.id and r.position <> t.place - 1`.execute(tx);
}

/** Returns the list with a post inserted before the live post at that position, or at the end. */
function placed(rail: readonly Place[], id: string, position: number | null): string[] {
  const others = rail.filter((place) => place.post_id !== id);
  const before = position === null ? undefined : others.filter((place) => place.live)[position];
  const at = before === undefined ? others.length : others.indexOf(before);
  return [...others.slice(0, at), { post_id: id }, ...others.slice(at)].map((place) => place.post_id);
}

/** Features a post. Featuring it again moves it if a position is given, and otherwise changes nothing. */
export const feature = handle(featurePost, async ({ db }, { caller, params, body }) => {
  const position = body?.position ?? null;
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string; draft: boolean }>`
      select p.id, p.draft from posts p where p.id = ${params.id} and ${readablePosts(caller)}
      for no key update of p`.execute(tx);
    const [post] = rows;
    if (post === undefined) throw notFound();
    if (post.draft) throw refuse('draft-cannot-be-featured');
    const rail = await lockRail(tx);
    const isThere = rail.some((place) => place.post_id === post.id);
    if (isThere && position === null) return;
    if (!isThere && rail.filter((place) => place.live).length >= RAIL_LENGTH) {
      throw refuse('featured-list-full', { max: RAIL_LENGTH });
    }
    await tx
      .insertInto('featured_posts')
      .values({ post_id: post.id, position: rail.length, featured_by_user_ref: caller.ref })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await writeRail(tx, placed(rail, post.id, position));
    await recordEvent(tx, caller, {
      event: 'post.featured',
      target: { kind: 'post', id: post.id },
      metadata: { position },
    });
  });
  return { status: 204 };
});

/** Removes a post from the list; a readable post that is not featured is left unchanged. */
export const unfeature = handle(unfeaturePost, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`
      select p.id from posts p where p.id = ${params.id} and ${readablePosts(caller)}`.execute(tx);
    const [post] = rows;
    if (post === undefined) throw notFound();
    const gone = await tx
      .deleteFrom('featured_posts')
      .where('post_id', '=', post.id)
      .returning('post_id')
      .executeTakeFirst();
    if (gone === undefined) return;
    await recordEvent(tx, caller, { event: 'post.unfeatured', target: { kind: 'post', id: post.id } });
  });
  return { status: 204 };
});

/**
 * Reorders the list: the body names every featured post that the caller sees, once. Posts in the trash, unpublished
 * posts and those the caller does not see, because their members are withheld or they returned to a full list, keep
 * their places.
 */
export const order = handle(orderFeatured, async ({ db }, { caller, body }) => {
  const wanted = body.post_ids;
  if (new Set(wanted).size !== wanted.length) throw refuse('featured-repeated');
  await db.transaction().execute(async (tx) => {
    const rail = await lockRail(tx);
    const live = new Set(rail.flatMap((place) => (place.live ? [place.post_id] : [])));
    const named = new Set(wanted);
    const shown = await shownRail(tx, caller);
    if (wanted.some((id) => !live.has(id)) || shown.some((id) => !named.has(id))) {
      throw refuse('featured-list-changed');
    }
    const next = wanted.values();
    const ids = rail.map(({ post_id }) => (named.has(post_id) ? (next.next().value ?? post_id) : post_id));
    await writeRail(tx, ids);
    await recordEvent(tx, caller, { event: 'posts.featured.ordered', metadata: { post_ids: wanted } });
  });
  return { status: 204 };
});
