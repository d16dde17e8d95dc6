import type { Language } from '@vitrine/contract/languages';
import { sql } from 'kysely';
import { enqueue } from '../../core/job-table.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { hashToken } from '../identity/sessions.ts';

/** What a mailed address is for. */
export type LinkPurpose = 'password_reset' | 'verify_email';

/** RESET-3, EMAIL-2: for how long a link is valid, in minutes. */
export const linkMinutes: Readonly<Record<LinkPurpose, number>> = {
  password_reset: 60,
  verify_email: 24 * 60,
};

/**
 * Stores a link of an account, which replaces its former one, and mails it in the background. `language` is for accounts
 * that prefer none.
 */
export async function mailLink(
  tx: Tx,
  {
    userRef,
    purpose,
    email,
    language,
  }: { userRef: number; purpose: LinkPurpose; email: string; language?: Language | undefined },
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    insert into account_links (user_ref, purpose, email, expires_at)
    values (${userRef}, ${purpose}, ${email}, now() + make_interval(mins => ${linkMinutes[purpose]}))
    on conflict (user_ref, purpose) do update set id = excluded.id, email = excluded.email, token_hash = null,
      created_at = now(), expires_at = excluded.expires_at
    returning id`.execute(tx);
  const id = rows[0]?.id ?? '';
  const payload = language === undefined ? { id } : { id, language };
  await enqueue(tx, 'mail-account-link', payload, { key: `account-link:${id}` });
}

/** Removes the link of an account with this purpose, so that its mail does nothing. */
export async function dropLink(db: Database, userRef: number, purpose: LinkPurpose): Promise<void> {
  await db
    .deleteFrom('account_links')
    .where('user_ref', '=', userRef)
    .where('purpose', '=', purpose)
    .execute();
}

/** Uses up a link by its token; null if it is unknown, used, replaced or expired. */
export async function takeLink(tx: Tx, token: string, purpose: LinkPurpose) {
  const taken = await tx
    .deleteFrom('account_links')
    .where('token_hash', '=', hashToken(token))
    .where('purpose', '=', purpose)
    .where('expires_at', '>', sql<string>`now()`)
    .returning(['user_ref', 'email'])
    .executeTakeFirst();
  return taken === undefined ? null : { userRef: taken.user_ref, email: taken.email };
}
