import { randomUUID } from 'node:crypto';
import type { BodyOf } from '@vitrine/contract/operation';
import { updateUser } from '@vitrine/contract/users';
import { sql } from 'kysely';
import { checkMayWriteAccounts } from '../../access/accounts.ts';
import { administered } from '../../access/administered.ts';
import { avatarCandidates, bannerCandidates, type Predicate } from '../../access/assets.ts';
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
  'banner_asset_id',
  'links',
  'bio',
  'hide_from_anonymous',
] as const;

type Changes = Patch<BodyOf<typeof updateUser>, (typeof editable)[number]>;

/** EMAIL-4. */
const CHANGES_PER_HOUR = 10;

/**
 * Locks an asset and refuses (404) one that is no candidate. These are two statements, because one that waits for the lock of a
 * file that is being rendered does not see its renditions afterwards.
 */
async function checkPicture(tx: Tx, assetId: string, candidates: Predicate): Promise<void> {
  await tx.selectFrom('assets as a').where('a.id', '=', assetId).forShare().execute();
  const rows = await tx.selectFrom('assets as a').where('a.id', '=', assetId).where(candidates).execute();
  if (rows.length === 0) throw refuse('asset-not-found');
}

/**
 * The avatar is visible to everyone who sees the name, so the picture must be public (USER-4). A banner is shown to those who
 * may see its picture (USER-21).
 */
async function checkPictures(tx: Tx, caller: SignedIn, userRef: number, changes: Changes): Promise<void> {
  const { avatar_asset_id: avatar, banner_asset_id: banner } = changes;
  if (typeof avatar === 'string') await checkPicture(tx, avatar, avatarCandidates(userRef));
  if (typeof banner === 'string') await checkPicture(tx, banner, bannerCandidates(caller));
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
    await checkPictures(tx, caller, params.ref, changes);
    if (Object.keys(changes).length > 0) {
      const { links, ...columns } = changes;
      await tx
        .updateTable('users')
        .set({
          ...columns,
          ...(links == null ? {} : { links: JSON.stringify(links) }),
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
