import { type TransferCounts, transferUser } from '@vitrine/contract/account-transfers';
import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import { administered } from '../../access/administered.ts';
import { checkUser } from '../../access/known-accounts.ts';
import { openedByPostsOf, openingAssetsOf } from '../../access/transfers.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeersOfEach } from '../../core/outbox/enqueue.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { keepingAnAdministrator } from '../roles/last-administrator.ts';

/** The account from which things move, the one to which they move, and the administrator who moves them. */
export interface Move {
  from: number;
  to: number;
  by: number;
}

/** Runs a statement that changes rows, and returns how many. */
export async function changedRows(tx: Tx, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await statement.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

/** Runs a statement that returns the ids of the rows that it changes. */
async function changedIds(tx: Tx, statement: RawBuilder<{ id: string }>): Promise<string[]> {
  const { rows } = await statement.execute(tx);
  return rows.map(({ id }) => id);
}

/**
 * Locks the posts and assets of both accounts in the order of their ids, so that no concurrent change of a post makes a
 * move show more than was checked, and two moves do not deadlock.
 */
async function lockBoth(tx: Tx, { from, to }: Move): Promise<void> {
  await sql`select from posts where author_user_ref in (${from}, ${to}) order by id for no key update`.execute(
    tx,
  );
  await sql`select from assets where owner_user_ref in (${from}, ${to}) order by id for no key update`.execute(
    tx,
  );
}

/** TRANSFER-3: what followers see becomes shared with them by name, because the other account has other followers. */
async function nameFollowers(tx: Tx, { from, to }: Move): Promise<void> {
  const posts = sql`(p.author_user_ref = ${from} and p.visibility = 'followers' and not ${openingAssetsOf(to)})`;
  const collections = sql`(c.owner_user_ref = ${from} and c.visibility = 'followers')`;
  // Shares of these have had no effect so far.
  await sql`delete from post_shares s using posts p where p.id = s.post_id and ${posts}`.execute(tx);
  await sql`delete from collection_shares s using collections c where c.id = s.collection_id and ${collections}`.execute(
    tx,
  );
  await sql`insert into post_shares (post_id, user_ref)
    select p.id, f.follower_user_ref from posts p join user_follows f on f.followed_user_ref = p.author_user_ref
    where ${posts}`.execute(tx);
  await sql`insert into collection_shares (collection_id, user_ref)
    select c.id, f.follower_user_ref from collections c join user_follows f on f.followed_user_ref = c.owner_user_ref
    where ${collections}`.execute(tx);
  await sql`update posts p set visibility = 'explicit-share', updated_at = now() where ${posts}`.execute(tx);
  await sql`update collections c set visibility = 'explicit-share', updated_at = now() where ${collections}`.execute(
    tx,
  );
}

/** TRANSFER-4: a link shows what its creator may see, so it ends instead of moving. */
function endLinks(tx: Tx, { from }: Move): Promise<number> {
  return changedRows(
    tx,
    sql`update share_links set revoked_at = now() where created_by_user_ref = ${from} and revoked_at is null`,
  );
}

/**
 * Sends the moved things to the peers and followers who have them, with their new author (FED-20, AP-7). In the name of the
 * account that moved them, or of the former author if they moved to that account, since peers do not believe a new author
 * who says so themselves.
 */
async function announceMoved(
  tx: Tx,
  { from, to, by }: Move,
  { posts, assets, collections }: Record<'posts' | 'assets' | 'collections', readonly string[]>,
): Promise<void> {
  const actor = by === to ? from : by;
  await notifyPeersOfEach(tx, 'asset', assets, actor);
  await notifyPeersOfEach(tx, 'post', posts, actor);
  await notifyPeersOfEach(tx, 'collection', collections, actor);
}

/** Moves everything that an account has made (TRANSFER-1 to TRANSFER-4). */
export async function moveContent(tx: Tx, move: Move): Promise<TransferCounts> {
  const { from, to } = move;
  // As long as it takes: a large account has many rows.
  await sql`set local statement_timeout = 0`.execute(tx);
  await lockBoth(tx, move);
  const kept = await tx
    .selectFrom('assets as a')
    .select('a.id')
    .where('a.owner_user_ref', '=', from)
    .where(openedByPostsOf(to))
    .execute();
  const keptIds = kept.map(({ id }) => id);
  const deletedBy = sql`deleted_by_user_ref = case when deleted_by_user_ref = ${from} then ${to}::bigint
    else deleted_by_user_ref end`;
  await nameFollowers(tx, move);
  const posts = await changedIds(
    tx,
    sql`update posts p set author_user_ref = ${to}, ${deletedBy}
      where author_user_ref = ${from} and not ${openingAssetsOf(to)} returning p.id`,
  );
  const assets = await changedIds(
    tx,
    sql`update assets set owner_user_ref = ${to}, ${deletedBy}
      where owner_user_ref = ${from} and not id = any(${keptIds}::uuid[]) returning id`,
  );
  const collections = await changedIds(
    tx,
    sql`update collections set owner_user_ref = ${to}, ${deletedBy}
      where owner_user_ref = ${from} returning id`,
  );
  const comments = await changedRows(
    tx,
    sql`update comments set author_user_ref = ${to} where author_user_ref = ${from}`,
  );
  const whiteboards = await changedRows(
    tx,
    sql`update whiteboards set author_user_ref = ${to} where author_user_ref = ${from}`,
  );
  // What is added to these folders belongs to the other account; nothing there is shown by that.
  await sql`update roots set owner_user_ref = ${to} where owner_user_ref = ${from}`.execute(tx);
  await sql`update post_schedules s set user_ref = ${to}, token_id = null
    from posts p where p.id = s.post_id and p.author_user_ref = ${to} and s.user_ref = ${from}`.execute(tx);
  const left = await tx
    .selectFrom('posts')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('author_user_ref', '=', from)
    .executeTakeFirst();
  await announceMoved(tx, move, { posts, assets, collections });
  return {
    assets: assets.length,
    posts: posts.length,
    collections: collections.length,
    comments,
    whiteboards,
    kept_assets: keptIds.length,
    kept_posts: Number(left?.count ?? 0),
    ended_links: await endLinks(tx, move),
  };
}

/** Throws unless the other account exists and is not the same. */
export async function checkMove(tx: Tx, { from, to }: Move): Promise<void> {
  if (from === to) throw refuse('same-account');
  await checkUser(tx, to);
}

/**
 * Runs a change and returns its result; a dry run takes it back. So a dry run counts exactly what the change would do
 * (TRANSFER-5).
 */
export async function tryOut<T>(tx: Tx, isDryRun: boolean, change: () => Promise<T>): Promise<T> {
  await tx.executeQuery(CompiledQuery.raw('savepoint before_change'));
  const result = await change();
  if (isDryRun) await tx.executeQuery(CompiledQuery.raw('rollback to savepoint before_change'));
  return result;
}

export const transfer = handle(transferUser, async ({ db }, { caller: asked, params, body }) => {
  const counts = await keepingAnAdministrator(
    db,
    asked,
    async (tx, caller) => {
      const { ref: from } = await administered(tx, caller, params.ref);
      const move = { from, to: body.to, by: caller.ref };
      await checkMove(tx, move);
      return tryOut(tx, body.dry_run === true, async () => {
        const moved = await moveContent(tx, move);
        await recordEvent(tx, caller, {
          event: 'user.transferred',
          subjectUserRef: from,
          metadata: { to: move.to, ...moved },
        });
        return moved;
      });
    },
    'system.admin',
  );
  return { status: 200, body: counts };
});
