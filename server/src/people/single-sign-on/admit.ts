import { foldName } from '@vitrine/contract/names';
import { type RawBuilder, sql } from 'kysely';
import { takesClaimedPicture } from '../../access/accounts.ts';
import { activeAccount } from '../../access/live.ts';
import { enqueue } from '../../core/job-table.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { recordEvent } from '../audit/record.ts';
import { hasEmail, keyOfEmail } from '../identity/email-keys.ts';
import type { RedirectProvider } from '../identity/provider-registry.ts';
import { lockOpenInvitation, type OpenInvitation, useInvitation } from '../invitations/open.ts';
import { SignInFailure } from './failure.ts';
import { applyMapping, mappedRole } from './mapping.ts';
import { isOfAllowedDomain, type Person } from './person.ts';

/** The account of a person, or that an existing account must confirm with its password first. */
export type Admission = { kind: 'account'; ref: number } | { kind: 'confirm' };

/** Accounts `users u` whose name or e-mail a person has, in any spelling (SSO-15). */
export function claimedAccounts({ username, email }: Person): RawBuilder<boolean> {
  const name = username === null ? null : foldName(username);
  return sql`(u.username_key = ${name} or ${hasEmail('u', email)})`;
}

export async function findAccount(tx: Database, { kind, issuer, subject }: Person) {
  return tx
    .selectFrom('user_identities as i')
    .innerJoin('users as u', 'u.ref', 'i.user_ref')
    .select(['u.ref', activeAccount('u').as('active')])
    .where('i.kind', '=', kind)
    .where('i.issuer', '=', issuer)
    .where('i.subject', '=', subject)
    .executeTakeFirst();
}

/**
 * SCIM-16: returns the account that the directory of the provider has for a person who signs in for the first time: by its
 * external id, else by the name that the provider claims.
 */
export async function findProvisioned(tx: Database, provider: RedirectProvider, person: Person) {
  const name = person.username === null || !person.hasClaimedName ? null : foldName(person.username);
  const { rows } = await sql<{ ref: number; active: boolean }>`
    select u.ref, ${activeAccount('u')} as active from users u join scim_users s on s.user_ref = u.ref
    where s.provider = ${provider.name} and (s.external_id = ${person.subject} or u.username_key = ${name})
      and not exists (select from user_identities i where i.user_ref = u.ref and i.provider = ${provider.name})
    order by s.external_id is distinct from ${person.subject} limit 1`.execute(tx);
  return rows[0];
}

/** Links an identity to an account; false if it belongs to an account already. */
export async function linkPerson(
  tx: Tx,
  provider: RedirectProvider,
  person: Person,
  userRef: number,
): Promise<boolean> {
  const { kind, issuer, subject, username, email } = person;
  const linked = await tx
    .insertInto('user_identities')
    .values({ user_ref: userRef, kind, issuer, subject, provider: provider.name, username, email })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (linked === undefined) return false;
  await recordEvent(tx, null, {
    event: 'user.identity.linked',
    actorUserRef: userRef,
    subjectUserRef: userRef,
    metadata: { provider: provider.name },
  });
  return true;
}

/** SSO-13: full name and e-mail follow the provider, unless the e-mail belongs to another account. */
export async function follow(
  tx: Tx,
  provider: RedirectProvider,
  person: Person,
  userRef: number,
): Promise<void> {
  const { kind, issuer, subject, username, email, emailVerified, fullname, groups } = person;
  await tx
    .updateTable('user_identities')
    .set({ provider: provider.name, username, email, groups: [...groups], last_used_at: sql`now()` })
    .where('kind', '=', kind)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .execute();
  const key = keyOfEmail(email);
  await sql`update users u set fullname = coalesce(${fullname}, u.fullname), updated_at = now(),
      email = case when x.free then ${email} else u.email end,
      email_key = case when x.free then ${key} else u.email_key end,
      email_confirmed_at = case when x.verified then now() else u.email_confirmed_at end
    from (select free, free and ${emailVerified}::boolean as verified from (select ${email}::text is not null and not exists (
      select from users o where ${hasEmail('o', email)} and o.ref <> ${userRef}) as free) y) x
    where u.ref = ${userRef} and (u.fullname is distinct from coalesce(${fullname}, u.fullname)
      or (x.free and u.email is distinct from ${email}) or (x.verified and u.email_confirmed_at is null))`.execute(
    tx,
  );
  await followPicture(tx, person, userRef);
  await applyMapping(tx, provider, [userRef], { keepsAdministrator: true });
}

/** SSO-60: fetches the picture that the provider claims, unless it is the one of the last sign-in or a person chose another. */
async function followPicture(tx: Tx, { picture }: Person, userRef: number): Promise<void> {
  if (picture === null) return;
  const { rows } = await sql`update users u set picture_url = ${picture}
    where u.ref = ${userRef} and u.picture_url is distinct from ${picture} and ${takesClaimedPicture}
    returning u.ref`.execute(tx);
  if (rows.length === 0) return;
  const payload = { user: userRef, url: picture };
  await enqueue(tx, 'fetch-profile-picture', payload, { key: `profile-picture:${userRef}` });
}

/** Creates the account of a person at their first sign-in; null if the name was taken meanwhile. */
async function createAccount(
  tx: Tx,
  provider: RedirectProvider,
  person: Person,
  invitation: OpenInvitation | null,
): Promise<number | null> {
  const { username, email, fullname, issuer, subject } = person;
  if (username === null)
    throw new SignInFailure('invalid', 'the person has no name that an account may have');
  // A role of an invitation was given by a person: no mapping changes it (SSO-30).
  const roles =
    invitation === null
      ? [mappedRole(provider, person.groups), provider.settings.default_role, 'member']
      : [invitation.role];
  const roleProvider = invitation === null ? provider.name : null;
  const key = keyOfEmail(email);
  // An invitation confirms the e-mail to which it was sent (INVITE-8).
  const isConfirmed = key !== null && key === invitation?.email_key;
  const { rows } = await sql<{ ref: number }>`
    insert into users (username, username_key, provider, provider_subject, fullname, email, email_key, email_confirmed_at, role_id,
      role_provider)
    select ${username}, ${foldName(username)}, ${provider.name}, ${JSON.stringify([issuer, subject])}, ${fullname},
      ${email}, ${key}, case when ${isConfirmed}::boolean then now() end, id, ${roleProvider}
    from roles where code = any(${roles}::text[]) order by array_position(${roles}::text[], code) limit 1
    on conflict do nothing returning ref`.execute(tx);
  const made = rows[0]?.ref;
  if (made === undefined) return null;
  await recordEvent(tx, null, {
    event: 'user.created',
    subjectUserRef: made,
    metadata: { username, provider: provider.name },
  });
  if (invitation !== null) await useInvitation(tx, invitation, made);
  return made;
}

/** INVITE-9: returns the invitation with which the sign-in began, else the newest one for the verified e-mail; null for none. */
async function invitationFor(tx: Tx, { email, emailVerified }: Person, invitationId: string | null) {
  const begun = invitationId === null ? null : await lockOpenInvitation(tx, sql`i.id = ${invitationId}`);
  if (begun !== null || email === null || !emailVerified) return begun;
  return lockOpenInvitation(tx, sql`i.email_key = ${keyOfEmail(email)}`);
}

/**
 * Returns the account of a person whom the provider has authenticated, created if the provider may
 * create it or the person is invited (SSO-11).
 * No account is taken over by name or e-mail (SSO-15). Throws SignInFailure, and then writes nothing.
 */
export async function admit(
  db: Database,
  provider: RedirectProvider,
  person: Person,
  invitationId: string | null,
): Promise<Admission> {
  if (!isOfAllowedDomain(person, provider.settings.allowed_domains))
    throw new SignInFailure('domain', 'the e-mail is not verified, or of a domain that is not allowed');
  if (Buffer.byteLength(person.issuer) > 1000 || Buffer.byteLength(person.subject) > 1000)
    throw new SignInFailure('invalid', 'the identity of the person is too long');
  return db.transaction().execute(async (tx): Promise<Admission> => {
    // Also lets concurrent first sign-ins of one person create one account.
    await takeLock(tx, 'administrators');
    const known = await findAccount(tx, person);
    if (known !== undefined) {
      if (!known.active) throw new SignInFailure('inactive', 'the account is not active, or has expired');
      await follow(tx, provider, person, known.ref);
      return { kind: 'account', ref: known.ref };
    }
    const provisioned = await findProvisioned(tx, provider, person);
    if (provisioned !== undefined) {
      if (!provisioned.active) throw new SignInFailure('inactive', 'the directory has disabled the account');
      if (!(await linkPerson(tx, provider, person, provisioned.ref)))
        throw new SignInFailure('invalid', 'the identity belongs to an account already');
      await follow(tx, provider, person, provisioned.ref);
      return { kind: 'account', ref: provisioned.ref };
    }
    const { rows } = await sql`select from users u where ${claimedAccounts(person)} limit 1`.execute(tx);
    if (rows.length > 0) return { kind: 'confirm' };
    const invitation = await invitationFor(tx, person, invitationId);
    if (invitation === null && provider.settings.creation !== 'first_sign_in')
      throw new SignInFailure('not_invited', 'the person has no account and no invitation');
    const ref = await createAccount(tx, provider, person, invitation);
    if (ref === null) return { kind: 'confirm' };
    await linkPerson(tx, provider, person, ref);
    await follow(tx, provider, person, ref);
    return { kind: 'account', ref };
  });
}
