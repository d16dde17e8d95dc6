import { mostPins, pinPost, unpinPost } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { authoredPosts, readablePosts } from '../../access/posts.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';

/** Locks a post of the caller; 404 for one that they may not read, 403 for one of another author. */
async function lockOwn(tx: Tx, caller: SignedIn, id: string): Promise<{ draft: boolean }> {
  const { rows } = await sql<{ draft: boolean; authored: boolean }>`
    select p.draft, ${authoredPosts(caller)} as authored from posts p
    where p.id = ${id} and ${readablePosts(caller)} for share of p`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  if (!row.authored) throw refuse('not-author');
  return row;
}

/** POST-50: counts the pins of the account under a lock, so that concurrent requests do not exceed the limit. */
export const pin = handle(pinPost, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    await sql`select from users where ref = ${caller.ref} for no key update`.execute(tx);
    const { draft } = await lockOwn(tx, caller, params.id);
    if (draft) throw refuse('draft-cannot-be-pinned');
    const pinned = await tx
      .selectFrom('post_pins')
      .select('post_id')
      .where('user_ref', '=', caller.ref)
      .execute();
    if (pinned.some(({ post_id }) => post_id === params.id)) return;
    if (pinned.length >= mostPins) throw refuse('pins-full', { max: mostPins });
    await tx.insertInto('post_pins').values({ post_id: params.id, user_ref: caller.ref }).execute();
  });
  return { status: 204 };
});

/** Idempotent (POST-50). */
export const unpin = handle(unpinPost, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    await lockOwn(tx, caller, params.id);
    await tx.deleteFrom('post_pins').where('post_id', '=', params.id).execute();
  });
  return { status: 204 };
});
