import { deleteUser } from '@vitrine/contract/users';
import { sql } from 'kysely';
import { administered } from '../../access/administered.ts';
import type { SignedIn } from '../../access/caller.ts';
import type { Config } from '../../core/config.ts';
import { handle } from '../../core/handle.ts';
import { endFollowing } from '../../exchange/activitypub/opt-in.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { forgetFailures } from '../../people/identity/lock-out.ts';
import { keepingAnAdministrator } from '../../people/roles/last-administrator.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';

/** Locks the rows whose like counts change, ordered by id, which prevents deadlocks. */
async function lockLiked(tx: Tx, userRef: number): Promise<void> {
  await sql`select from posts where id in (select post_id from post_likes where user_ref = ${userRef})
    order by id for no key update`.execute(tx);
  await sql`select from comments where id in (select comment_id from comment_likes where user_ref = ${userRef})
    order by id for no key update`.execute(tx);
}

/**
 * Deletes the row of an account and, by cascade, what belongs to it personally (sessions, tokens, second factor, grants,
 * shares, follows, likes, notifications, requests). Posts, comments, collections and assets keep the ref of the deleted
 * account, so they show no identity (USER-12). Refs are never reused. Followers on other systems are sent a Delete (AP-5).
 */
export async function removeAccount(
  tx: Tx,
  config: Config,
  caller: SignedIn,
  { ref, username }: { ref: number; username: string },
): Promise<void> {
  if (ref === caller.ref) throw refuse('cannot-delete-yourself');
  await lockLiked(tx, ref);
  await endFollowing(tx, config, ref);
  await tx.deleteFrom('users').where('ref', '=', ref).execute();
  await forgetFailures(tx, username);
  await recordEvent(tx, caller, { event: 'user.deleted', subjectUserRef: ref, metadata: { username } });
}

/** `DELETE /admin/users/{ref}`. */
export const remove = handle(deleteUser, async ({ db, config }, { caller: asked, params }) => {
  await keepingAnAdministrator(db, asked, async (tx, caller) =>
    removeAccount(tx, config, caller, await administered(tx, caller, params.ref)),
  );
  return { status: 204 };
});
