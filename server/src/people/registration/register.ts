import { randomUUID } from 'node:crypto';
import type { Language } from '@vitrine/contract/languages';
import { foldName } from '@vitrine/contract/names';
import { register } from '@vitrine/contract/registration';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { enqueue } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { mailLink } from '../account-links/links.ts';
import { knownAddress } from '../account-links/recipients.ts';
import { recordEvent } from '../audit/record.ts';
import { keyOfEmail } from '../identity/email-keys.ts';
import { sendsLinks } from '../mail/links.ts';
import { keyOfText, mayMail } from '../mail/mail-counts.ts';
import { readAccountSettings } from './settings.ts';

/** REGISTER-2: compares the whole part after the `@`. */
function isOfDomain(email: string, domains: readonly string[]): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return domains.length === 0 || domains.some((allowed) => allowed.toLowerCase() === domain);
}

/** REGISTER-3: tells the owners of a known address, or mails the link that confirms a new one. */
async function mailOwner(
  tx: Tx,
  deps: Deps,
  { userRef, email, language }: { userRef: number; email: string; language: Language },
): Promise<void> {
  const { rows: owners } = await sql<{ ref: number; email: string | null }>`
    select o.ref, o.email from users u join users o on o.email_key = u.email_key and o.ref <> u.ref
      and o.registration is distinct from 'unverified'
    where u.ref = ${userRef} and ${knownAddress(sql`u.email_key`)} order by o.ref limit 1`.execute(tx);
  const owner = owners[0];
  const key = keyOfEmail(email) ?? '';
  // The address is counted, not the account: everybody may register any number of accounts with an address of others.
  if (!(await mayMail(tx, `register:${keyOfText(deps, key)}`))) return;
  if (owner === undefined) return mailLink(tx, { userRef, purpose: 'verify_email', email, language });
  if (owner.email === null) return;
  const id = randomUUID();
  const notice = { user: owner.ref, to: owner.email, notice: 'known-address', id } as const;
  await enqueue(tx, 'mail-account-notice', notice, { key: `notice:${id}` });
}

/** REGISTER-1. The name is taken also if the e-mail is known, so that a second attempt reveals nothing. */
export const registerAccount = handle(register, async (deps, { body, http }) => {
  const { db, passwords } = deps;
  const { username, password, email, fullname } = body;
  const settings = await readAccountSettings(deps);
  if (settings.registration === 'off' || !(await sendsLinks(deps))) throw refuse('registration-closed');
  if (!isOfDomain(email, settings.allowed_domains)) throw refuse('email-domain-not-allowed');
  const hash = await passwords.hash(username, password);
  const roles = [settings.registration_role, 'member'];
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ ref: number }>`
      insert into users (username, username_key, password_hash, fullname, email, email_key, role_id, status, registration)
      select ${username}, ${foldName(username)}, ${hash}, ${fullname ?? null}, ${email}, ${keyOfEmail(email)}, id,
        'pending', 'unverified'
      from roles where code = any(${roles}::text[]) order by array_position(${roles}::text[], code) limit 1
      on conflict do nothing returning ref`.execute(tx);
    const ref = rows[0]?.ref;
    if (ref === undefined) throw refuse('username-taken');
    await mailOwner(tx, deps, { userRef: ref, email, language: http.language() });
    await recordEvent(tx, null, {
      event: 'user.registered',
      actorUserRef: ref,
      subjectUserRef: ref,
      metadata: { username },
    });
  });
  return { status: 202, body: {} };
});
