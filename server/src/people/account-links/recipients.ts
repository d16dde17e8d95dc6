import { foldName } from '@vitrine/contract/names';
import { type RawBuilder, sql } from 'kysely';
import { activeAccount } from '../../access/live.ts';
import type { Database } from '../../platform/database/pool.ts';
import { keyOfEmail } from '../identity/email-keys.ts';

/** RESET-2: accounts `u` that sign in with a password of this library, or may get one. */
export const resettable: RawBuilder<boolean> = sql`(${activeAccount('u')} and u.provider <> 'ldap'
  and (u.provider = 'password' or u.password_hash is not null))`;

/** REGISTER-3: whether another account than `u` has the address `key`, which is not only registered without being confirmed. */
export const knownAddress = (key: RawBuilder<unknown>): RawBuilder<boolean> => sql`exists (
  select from users o where o.email_key = ${key} and o.ref <> u.ref and o.registration is distinct from 'unverified')`;

interface Recipient {
  ref: number;
  email: string;
}

/** More accounts of one address get no mail. */
const MOST_RECIPIENTS = 20;

/** Returns the accounts with this username or confirmed e-mail that may get a new password, with their addresses (RESET-2). */
export async function resetRecipients(db: Database, login: string): Promise<Recipient[]> {
  const { rows } = await sql<Recipient>`
    select u.ref, u.email from users u where u.email is not null and ${resettable}
      and (u.username_key = ${foldName(login)}
        or (u.email_key = ${keyOfEmail(login)} and u.email_confirmed_at is not null))
    order by u.ref limit ${MOST_RECIPIENTS}`.execute(db);
  return rows;
}

/** Returns the accounts with this username or e-mail that have an e-mail to confirm, with that e-mail (EMAIL-5). */
export async function verificationRecipients(db: Database, login: string): Promise<Recipient[]> {
  const key = keyOfEmail(login);
  const { rows } = await sql<Recipient>`
    select u.ref, coalesce(l.email, u.email) as email
    from users u left join account_links l on l.user_ref = u.ref and l.purpose = 'verify_email' and l.expires_at > now()
    where (u.username_key = ${foldName(login)} or u.email_key = ${key})
      and (l.email is not null or (u.email is not null and u.email_confirmed_at is null))
      and (${activeAccount('u')} or (u.status = 'pending' and u.registration = 'unverified'
        and not ${knownAddress(sql`u.email_key`)}))
    order by u.ref limit ${MOST_RECIPIENTS}`.execute(db);
  return rows;
}
