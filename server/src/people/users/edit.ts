import { randomUUID } from 'node:crypto';
import type { BodyOf } from '@vitrine/contract/operation';
import { updateUser } from '@vitrine/contract/users';
import { sql } from 'kysely';
import { checkMayWriteAccounts } from '../../access/accounts.ts';
import { administered } from '../../access/administered.ts';
import { avatarCandidates } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { enqueue } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { type Patch, patchOf } from '../../platform/http/patch.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { dropLink, mailLink } from '../account-links/links.ts';
import { recordEvent } from '../audit/record.ts';
import { keyOfEmail } from '../identity/email-keys.ts';
import { sendsLinks } from '../mail/links.ts';
import { mayMail } from '../mail/mail-counts.ts';
import { showProfile } from './profile.ts';

const editable = [
  'display_name',
  'fullname',
  'email',
  'avatar_asset_id',
  'bio',
  'hide_from_anonymous',
] as const;

type Changes = Patch<BodyOf<typeof updateUser>, (typeof editable)[number]>;

/** EMAIL-4. */
const CHANGES_PER_HOUR = 10;

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

/**
 * EMAIL-1: keeps an account's own new e-mail pending until it is confirmed, and returns the other changes. Any other change of an
 * e-mail ends a pending one.
 */
async function withoutPending(
  tx: Tx,
  deps: Deps,
  { caller, userRef, changes }: { caller: SignedIn; userRef: number; changes: Changes },
): Promise<Changes> {
  const { email, ...others } = changes;
  if (email === undefined) return changes;
  const isPending =
    email !== null && userRef === caller.ref && email !== caller.account.email && (await sendsLinks(deps));
  if (!isPending) {
    await dropLink(tx, userRef, 'verify_email');
    return changes;
  }
  if (!(await mayMail(tx, `email:${userRef}`, CHANGES_PER_HOUR)))
    throw refuse('too-many-requests', {}, { 'retry-after': '3600' });
  await mailLink(tx, { userRef, purpose: 'verify_email', email });
  if (caller.account.email !== null) {
    const id = randomUUID();
    const notice = { user: userRef, to: caller.account.email, notice: 'email-changes', id } as const;
    await enqueue(tx, 'mail-account-notice', notice, { key: `notice:${id}` });
  }
  await recordEvent(tx, caller, { event: 'user.email.asked', subjectUserRef: userRef });
  return others;
}

export const edit = handle(updateUser, async (deps, { caller, params, body }) => {
  const { db } = deps;
  const wanted = patchOf(body, editable);
  const profile = await db.transaction().execute(async (tx) => {
    await edited(tx, caller, params.ref);
    const changes = await withoutPending(
      tx,
      { ...deps, db: tx },
      { caller, userRef: params.ref, changes: wanted },
    );
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
