import { randomUUID } from 'node:crypto';
import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { recordEvent } from '../audit/record.ts';
import { hasEmail, keyOfEmail } from '../identity/email-keys.ts';
import { endAccess } from '../identity/sessions.ts';
import { applyMapping, mappedRole } from '../single-sign-on/mapping.ts';
import { type Directory, provisioning } from './directory.ts';
import { notUnique } from './fault.ts';
import { operationsOf } from './patch.ts';
import { fullnameOf, mainEmail, patchUser, readUser, type UserDraft } from './user-draft.ts';
import { draftOf, findUser, type UserRow } from './users.ts';

interface Holder {
  ref: number;
  provider: string;
  status: string;
  status_provider: string | null;
  external_id: string | null;
  status_before: 'disabled' | 'archived' | null;
}

/** Returns the accounts that have the name in any spelling, or that the directory knows by the external id. */
async function holdersOf(tx: Tx, { provider }: Directory, draft: UserDraft): Promise<Holder[]> {
  const { rows } = await sql<Holder>`
    select u.ref, u.provider, u.status, u.status_provider, s.external_id, s.status_before
    from users u left join scim_users s on s.user_ref = u.ref
    where u.username_key = ${foldName(draft.userName)}
      or (s.provider = ${provider.name} and s.external_id = ${draft.externalId})`.execute(tx);
  return rows;
}

/** Whether an account other than `ref` has the e-mail of a user. */
async function isEmailTaken(tx: Tx, draft: UserDraft, ref: number | null): Promise<boolean> {
  const other = await tx
    .selectFrom('users as u')
    .select('u.ref')
    .where(hasEmail('u', mainEmail(draft)))
    .$if(ref !== null, (query) => query.where('u.ref', '<>', ref))
    .executeTakeFirst();
  return other !== undefined;
}

/**
 * Returns the e-mail that the account gets; throws 409 for a new one that another account has (SCIM-13). If the directory
 * does not change it, that others have it, too, must not keep the account from being disabled.
 */
async function emailFor(tx: Tx, before: UserRow, draft: UserDraft): Promise<string | null> {
  const wanted = mainEmail(draft);
  const isSame = (email: string | null) => keyOfEmail(email) === keyOfEmail(wanted);
  if (isSame(before.email) || !(await isEmailTaken(tx, draft, before.ref))) return wanted;
  if (isSame(mainEmail(draftOf(before)))) return before.email;
  throw notUnique('e-mail');
}

/** SCIM-13: refuses names and external ids that another account has. */
async function checkUnique(
  tx: Tx,
  directory: Directory,
  draft: UserDraft,
  ref: number | null,
): Promise<void> {
  const holders = (await holdersOf(tx, directory, draft)).filter((holder) => holder.ref !== ref);
  if (holders.some(({ external_id }) => external_id !== null && external_id === draft.externalId))
    throw notUnique('externalId');
  if (holders.length > 0) throw notUnique('userName');
}

async function saveAttributes(tx: Tx, { provider }: Directory, ref: number, draft: UserDraft): Promise<void> {
  const { userName: _, active: __, externalId, ...rest } = draft;
  const row = { provider: provider.name, external_id: externalId, attributes: JSON.stringify(rest) };
  await tx
    .insertInto('scim_users')
    .values({ user_ref: ref, ...row })
    .onConflict((conflict) => conflict.column('user_ref').doUpdateSet(row))
    .execute();
}

/** Gives an account a status that the directory may lift again (SCIM-12), unless a person gave it: `isOfPerson`. */
async function setStatus(
  tx: Tx,
  { provider }: Directory,
  { ref, status_provider }: Pick<UserRow, 'ref' | 'status_provider'>,
  { status, isOfPerson = false }: { status: 'active' | 'disabled' | 'archived'; isOfPerson?: boolean },
): Promise<void> {
  // A trigger keeps the provider only if it changes with the status.
  if (status_provider !== null)
    await tx.updateTable('users').set({ status_provider: null }).where('ref', '=', ref).execute();
  await tx
    .updateTable('users')
    .set({
      status,
      status_provider: status === 'active' || isOfPerson ? null : provider.name,
      updated_at: sql`now()`,
    })
    .where('ref', '=', ref)
    .execute();
  if (status !== 'active') await endAccess(tx, ref);
  await recordEvent(tx, null, {
    event: 'user.status.changed',
    subjectUserRef: ref,
    metadata: { status, provider: provider.name },
  });
}

/** Enables or disables an account. What a person disabled stays disabled. */
async function setActive(
  tx: Tx,
  directory: Directory,
  before: Pick<UserRow, 'ref' | 'status' | 'status_provider'>,
  active: boolean | undefined,
): Promise<void> {
  const isByDirectory = before.status_provider === directory.provider.name;
  if (active === false && before.status === 'active')
    await setStatus(tx, directory, before, { status: 'disabled' });
  if (active === true && before.status !== 'active' && isByDirectory)
    await setStatus(tx, directory, before, { status: 'active' });
}

async function saveUser(tx: Tx, directory: Directory, before: UserRow, draft: UserDraft): Promise<void> {
  const { ref } = before;
  await checkUnique(tx, directory, draft, ref);
  const email = await emailFor(tx, before, draft);
  const values = { username: draft.userName, fullname: fullnameOf(draft), email };
  const changed = (['username', 'fullname', 'email'] as const).filter((key) => values[key] !== before[key]);
  await tx
    .updateTable('users')
    .set({
      ...values,
      username_key: foldName(draft.userName),
      // Its password was hashed with the former name.
      ...(changed.includes('username') ? { hashed_as: sql`coalesce(hashed_as, username)` } : {}),
      email_key: keyOfEmail(email),
      updated_at: sql`now()`,
    })
    .where('ref', '=', ref)
    .execute();
  await saveAttributes(tx, directory, ref, draft);
  if (changed.length > 0)
    await recordEvent(tx, null, {
      event: 'user.updated',
      subjectUserRef: ref,
      metadata: { changed: [...changed].sort(), provider: directory.provider.name },
    });
  await setActive(tx, directory, before, draft.active);
  await applyMapping(tx, directory.provider, [ref], { keepsAdministrator: false });
}

async function insertUser(tx: Tx, { provider }: Directory, draft: UserDraft): Promise<number> {
  const { userName } = draft;
  const email = mainEmail(draft);
  const roles = [mappedRole(provider, []), 'member'];
  const subject = JSON.stringify(['scim', randomUUID()]);
  const { rows } = await sql<{ ref: number }>`
    insert into users (username, username_key, provider, provider_subject, fullname, email, email_key, role_id, role_provider)
    select ${userName}, ${foldName(userName)}, ${provider.name}, ${subject}, ${fullnameOf(draft)}, ${email},
      ${keyOfEmail(email)}, id, ${provider.name}
    from roles where code = any(${roles}::text[]) order by array_position(${roles}::text[], code) limit 1
    on conflict do nothing returning ref`.execute(tx);
  const made = rows[0]?.ref;
  if (made === undefined) throw notUnique('userName');
  await recordEvent(tx, null, {
    event: 'user.created',
    subjectUserRef: made,
    metadata: { username: userName, provider: provider.name },
  });
  return made;
}

/**
 * SCIM-15: returns the account that the directory removed and now creates again: with the same external id, or with the
 * same name if one of the two has no external id.
 */
async function removedAccount(tx: Tx, directory: Directory, draft: UserDraft): Promise<Holder | null> {
  const { name } = directory.provider;
  const holders = await holdersOf(tx, directory, draft);
  const removed = holders.filter(
    ({ provider, status, status_provider }) =>
      provider === name && status === 'archived' && status_provider === name,
  );
  const known = removed.find(({ external_id }) => external_id !== null && external_id === draft.externalId);
  const [named] = removed;
  const isSame = named?.external_id === null || draft.externalId === null;
  return known ?? (named !== undefined && isSame ? named : null);
}

/** Gives an account that the directory removed its status again. What a person disabled stays disabled (SCIM-12). */
async function bringBack(tx: Tx, directory: Directory, removed: Holder): Promise<void> {
  const { status_before: before } = removed;
  const given = before === null ? { status: 'active' as const } : { status: before, isOfPerson: true };
  await setStatus(tx, directory, removed, given);
}

/** Creates a user and returns it (SCIM-11). */
export async function createUser(db: Database, directory: Directory, body: unknown): Promise<UserRow> {
  const draft = readUser(body);
  return provisioning(db, async (tx) => {
    const { name } = directory.provider;
    const removed = await removedAccount(tx, directory, draft);
    if (removed === null) {
      await checkUnique(tx, directory, draft, null);
      if (await isEmailTaken(tx, draft, null)) throw notUnique('e-mail');
    } else await bringBack(tx, directory, removed);
    const ref = removed?.ref ?? (await insertUser(tx, directory, draft));
    await saveUser(tx, directory, await findUser(tx, name, String(ref)), draft);
    return findUser(tx, name, String(ref));
  });
}

async function changeUser(
  db: Database,
  directory: Directory,
  id: string,
  change: (before: UserRow) => UserDraft,
): Promise<UserRow> {
  return provisioning(db, async (tx) => {
    const { name } = directory.provider;
    const before = await findUser(tx, name, id);
    await saveUser(tx, directory, before, change(before));
    return findUser(tx, name, id);
  });
}

/** Replaces what the directory says of a user. Without `active`, the status remains. */
export async function replaceUser(
  db: Database,
  directory: Directory,
  id: string,
  body: unknown,
): Promise<UserRow> {
  const draft = readUser(body);
  return changeUser(db, directory, id, () => draft);
}

export async function modifyUser(
  db: Database,
  directory: Directory,
  id: string,
  body: unknown,
): Promise<UserRow> {
  const operations = operationsOf(body);
  return changeUser(db, directory, id, (before) => patchUser(draftOf(before), operations));
}

/** Stores the status that an account returns with if the directory creates it again. */
async function keepStatusOfPerson(tx: Tx, { provider }: Directory, before: UserRow): Promise<void> {
  const { ref, status, status_provider } = before;
  const isOfPerson = status_provider === null && (status === 'disabled' || status === 'archived');
  const row = { provider: provider.name, status_before: isOfPerson ? status : null } as const;
  await tx
    .insertInto('scim_users')
    .values({ user_ref: ref, ...row })
    .onConflict((conflict) => conflict.column('user_ref').doUpdateSet(row))
    .execute();
}

/** Archives an account, which the directory then no longer sees (SCIM-15). */
export async function removeUser(db: Database, directory: Directory, id: string): Promise<void> {
  const { provider } = directory;
  await provisioning(db, async (tx) => {
    const before = await findUser(tx, provider.name, id);
    await tx.deleteFrom('scim_members').where('user_ref', '=', before.ref).execute();
    await tx
      .updateTable('user_identities')
      .set({ groups: [] })
      .where('user_ref', '=', before.ref)
      .where('provider', '=', provider.name)
      .execute();
    await applyMapping(tx, provider, [before.ref], { keepsAdministrator: false });
    await keepStatusOfPerson(tx, directory, before);
    await setStatus(tx, directory, before, { status: 'archived' });
  });
}
