import { Username } from '@vitrine/contract/identity';
import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import type { ProvidedIdentity } from '../../core/identity-provider.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { recordEvent } from '../audit/record.ts';
import { keyOfEmail } from './email-keys.ts';

const username = compileLater(Username);

/** Converts a directory's text for a column: without NUL, not empty, limited in length. */
function clean(text: string | null, most: number): string | null {
  const cleaned = text?.replaceAll('\0', '').trim().slice(0, most) ?? '';
  return cleaned === '' ? null : cleaned;
}

/**
 * Returns the ref of the account that a directory authenticated, by its permanent id there; creates it on the first
 * sign-in. Full name and e-mail follow the directory. Null when another account has the name: no account is taken over
 * by name.
 */
export async function accountOf(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  provider: string,
  identity: ProvidedIdentity,
): Promise<number | null> {
  const fullname = clean(identity.fullname, 200);
  const email = clean(identity.email, 320);
  const known = await db
    .updateTable('users')
    .set({ fullname, email, email_key: keyOfEmail(email), updated_at: sql`now()` })
    .where('provider', '=', provider)
    .where('provider_subject', '=', identity.subject)
    .returning('ref')
    .executeTakeFirst();
  if (known !== undefined) return known.ref;
  if (!username().Check(identity.username) || identity.username.includes('\0')) {
    log.warn({ provider }, 'a directory entry has a name that no account may have');
    return null;
  }
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ ref: number }>`
      insert into users (username, username_key, provider, provider_subject, fullname, email, email_key, role_id)
      select ${identity.username}, ${foldName(identity.username)}, ${provider}, ${identity.subject}, ${fullname}, ${email},
        ${keyOfEmail(email)}, id
      from roles where code = 'member'
      on conflict do nothing returning ref`.execute(tx);
    const made = rows[0]?.ref;
    if (made !== undefined) {
      await recordEvent(tx, null, { event: 'user.created', subjectUserRef: made, metadata: { provider } });
      return made;
    }
    // Another first sign-in created it concurrently. Any other conflict means that the name is taken.
    const other = await tx
      .selectFrom('users')
      .select('ref')
      .where('provider', '=', provider)
      .where('provider_subject', '=', identity.subject)
      .executeTakeFirst();
    if (other === undefined) log.warn({ provider }, 'a directory account has the name of another account');
    return other?.ref ?? null;
  });
}
