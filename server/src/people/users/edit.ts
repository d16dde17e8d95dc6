import { updateUser } from '@vitrine/contract/users';
import { sql } from 'kysely';
import { checkMayWriteAccounts } from '../../access/accounts.ts';
import { administered } from '../../access/administered.ts';
import { avatarCandidates } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { patchOf } from '../../platform/http/patch.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { keyOfEmail } from '../identity/email-keys.ts';
import { showProfile } from './profile.ts';

const editable = [
  'display_name',
  'fullname',
  'email',
  'avatar_asset_id',
  'bio',
  'hide_from_anonymous',
] as const;

/** The avatar is visible to everyone who sees the name, so the picture must be public. */
async function checkAvatar(tx: Tx, userRef: number, assetId: string): Promise<void> {
  const rows = await tx
    .selectFrom('assets as a')
    .where('a.id', '=', assetId)
    .where(avatarCandidates(userRef))
    .forShare()
    .execute();
  if (rows.length === 0) throw refuse('asset-not-found');
}

/** Edits the caller's own profile or, with `users.write`, one of an account without more rights than the caller. */
async function edited(tx: Tx, caller: SignedIn, userRef: number): Promise<void> {
  if (userRef === caller.ref) return;
  checkMayWriteAccounts(caller);
  await administered(tx, caller, userRef);
}

export const edit = handle(updateUser, async ({ db }, { caller, params, body }) => {
  const changes = patchOf(body, editable);
  const profile = await db.transaction().execute(async (tx) => {
    await edited(tx, caller, params.ref);
    if (typeof changes.avatar_asset_id === 'string')
      await checkAvatar(tx, params.ref, changes.avatar_asset_id);
    if (Object.keys(changes).length > 0) {
      await tx
        .updateTable('users')
        .set({
          ...changes,
          ...(changes.email === undefined ? {} : { email_key: keyOfEmail(changes.email) }),
          updated_at: sql`now()`,
        })
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
