import {
  type FollowableAccount,
  getFollowableAccount,
  updateFollowableAccount,
} from '@vitrine/contract/activitypub';
import { sql } from 'kysely';
import { followablePost, mayBeFollowable } from '../../access/activitypub.ts';
import type { SignedIn } from '../../access/caller.ts';
import type { Config } from '../../core/config.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { addressableName, createActor } from './actors.ts';
import { actorUri, publicAudience } from './addresses.ts';
import { queueActivity } from './deliveries.ts';
import { readActivityPub } from './site.ts';

interface FollowableRow {
  username: string;
  allowed: boolean;
  actor_id: string | null;
  followers: number;
  likes: number;
  boosts: number;
}

async function readRow(db: Database, userRef: number): Promise<FollowableRow> {
  const { rows } =
    await sql<FollowableRow>`select u.username, ${mayBeFollowable} as allowed, ap.id as actor_id,
      (select count(*) from activitypub_followers f where f.actor_id = ap.id)::int as followers,
      (select count(*) from activitypub_reactions r where r.actor_id = ap.id and r.kind = 'like')::int as likes,
      (select count(*) from activitypub_reactions r where r.actor_id = ap.id and r.kind = 'boost')::int as boosts
    from users u left join activitypub_actors ap on ap.user_ref = u.ref and ap.withdrawn_at is null
    where u.ref = ${userRef}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('a signed-in account does not exist');
  return row;
}

async function show(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  userRef: number,
): Promise<FollowableAccount> {
  const { site } = await readActivityPub(db, config);
  const row = await readRow(db, userRef);
  return {
    available: site !== null,
    followable: row.actor_id !== null,
    handle: site === null || row.actor_id === null ? null : `@${row.username}@${site.host}`,
    followers_count: row.followers,
    likes_count: row.likes,
    boosts_count: row.boosts,
  };
}

async function optIn(
  tx: Tx,
  secretKey: string,
  { username, allowed }: FollowableRow,
  userRef: number,
): Promise<void> {
  if (!allowed) throw refuse('profile-hidden');
  if (!addressableName.test(username)) throw refuse('username-not-addressable');
  const actorId = await createActor(tx, secretKey, userRef);
  // Existing public posts count as already announced.
  await sql`insert into activitypub_posts (actor_id, post_id)
    select ${actorId}, p.id from posts p where p.author_user_ref = ${userRef} and ${followablePost}`.execute(
    tx,
  );
}

/** Withdraws an actor permanently, and sends a Delete to its followers (AP-5). */
async function optOut(tx: Tx, address: string | null, actorId: string): Promise<void> {
  await tx
    .updateTable('activitypub_actors')
    .set({ withdrawn_at: sql<string>`now()` })
    .where('id', '=', actorId)
    .execute();
  await tx.deleteFrom('activitypub_deliveries').where('actor_id', '=', actorId).execute();
  if (address !== null) {
    const actor = actorUri(new URL(address).origin, actorId);
    const removal = { id: `${actor}#delete`, type: 'Delete', actor, to: [publicAudience], object: actor };
    await queueActivity(tx, actorId, removal);
  }
  await tx.deleteFrom('activitypub_followers').where('actor_id', '=', actorId).execute();
  await tx.deleteFrom('activitypub_posts').where('actor_id', '=', actorId).execute();
  await tx.deleteFrom('activitypub_reactions').where('actor_id', '=', actorId).execute();
}

/**
 * Withdraws the actor of an account that is about to be deleted (AP-5). Locks the account, so that it cannot opt in
 * meanwhile.
 */
export async function endFollowing(tx: Tx, config: Config, userRef: number): Promise<void> {
  const { address } = await readActivityPub(tx, config);
  await tx.selectFrom('users').where('ref', '=', userRef).forUpdate().execute();
  const { actor_id } = await readRow(tx, userRef);
  if (actor_id !== null) await optOut(tx, address, actor_id);
}

async function change(deps: Deps, caller: SignedIn, followable: boolean): Promise<void> {
  const { site, address } = await readActivityPub(deps.db, deps.config);
  await deps.db.transaction().execute(async (tx) => {
    await tx.selectFrom('users').where('ref', '=', caller.ref).forNoKeyUpdate().execute();
    const row = await readRow(tx, caller.ref);
    if ((row.actor_id !== null) === followable) return;
    if (followable && site === null) throw refuse('followers-off');
    if (row.actor_id === null) await optIn(tx, deps.secretKey, row, caller.ref);
    else await optOut(tx, address, row.actor_id);
    await recordEvent(tx, caller, {
      event: followable ? 'account.followable' : 'account.unfollowable',
    });
  });
}

export const showOwn = handle(getFollowableAccount, async (deps, { caller }) => ({
  status: 200,
  body: await show(deps, caller.ref),
}));

export const changeOwn = handle(updateFollowableAccount, async (deps, { caller, body }) => {
  await change(deps, caller, body.followable);
  return { status: 200, body: await show(deps, caller.ref) };
});
