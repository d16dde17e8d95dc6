import type { BodyOf } from '@vitrine/contract/operation';
import { updateUser } from '@vitrine/contract/users';
import { sql } from 'kysely';
import { checkMayWriteAccounts } from '../access/accounts.ts';
import { administered } from '../access/administered.ts';
import { portraits } from '../access/assets.ts';
import type { SignedIn } from '../access/caller.ts';
import { recordEvent } from '../audit/record.ts';
import { handle } from '../handle.ts';
import type { Tx } from '../platform/database/pool.ts';
import { refuse } from '../platform/http/refuse.ts';
import { showProfile } from './profile.ts';

type Edit = BodyOf<typeof updateUser>;

/** What is taken away by which `clear_*` (HTTP-17). */
const removals = [
  ['clear_display_name', 'display_name'],
  ['clear_fullname', 'fullname'],
  ['clear_email', 'email'],
  ['clear_avatar', 'avatar_asset_id'],
] as const;

/** The columns an edit sets: absent and null leave a value alone; `clear_*` beside its value is 400. */
function changesOf(edit: Edit) {
  const changes: Partial<Record<'display_name' | 'fullname' | 'email' | 'avatar_asset_id', string | null>> =
    {};
  for (const [clear, column] of removals) {
    const value = edit[column] ?? null;
    if (edit[clear] === true && value !== null)
      throw refuse(400, `${clear} and ${column} exclude each other`);
    if (edit[clear] === true) changes[column] = null;
    else if (value !== null) changes[column] = value;
  }
  return {
    ...changes,
    ...(edit.bio == null ? {} : { bio: edit.bio }),
    ...(edit.hide_from_anonymous == null ? {} : { hide_from_anonymous: edit.hide_from_anonymous }),
  };
}

/** An avatar is seen by everybody who sees the name, so it is a picture that everybody may see. */
async function checkAvatar(tx: Tx, userRef: number, assetId: string): Promise<void> {
  const { rows } =
    await sql`select from assets a where a.id = ${assetId} and ${portraits(userRef)} for share of a`.execute(
      tx,
    );
  if (rows.length === 0) throw refuse(404, 'asset not found');
}

/** Whose profile: one's own, or with `users.write` anybody's who may do no more than the caller. */
async function edited(tx: Tx, caller: SignedIn, userRef: number): Promise<void> {
  if (userRef === caller.ref) return;
  checkMayWriteAccounts(caller);
  await administered(tx, caller, userRef);
}

export const edit = handle(updateUser, async ({ db }, { caller, params, body }) => {
  const changes = changesOf(body);
  const profile = await db.transaction().execute(async (tx) => {
    await edited(tx, caller, params.ref);
    if (typeof changes.avatar_asset_id === 'string')
      await checkAvatar(tx, params.ref, changes.avatar_asset_id);
    if (Object.keys(changes).length > 0) {
      await tx
        .updateTable('users')
        .set({ ...changes, updated_at: sql`now()` })
        .where('ref', '=', params.ref)
        .execute();
      await recordEvent(tx, caller, {
        event: 'user.updated',
        subjectUserRef: params.ref,
        metadata: { changed: Object.keys(changes).sort() },
      });
    }
    return showProfile(tx, caller, sql`u.ref = ${params.ref}`);
  });
  return { status: 200, body: profile };
});
