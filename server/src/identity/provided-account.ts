import { Username } from '@vitrine/contract/identity';
import { sql } from 'kysely';
import { Compile } from 'typebox/compile';
import { recordEvent } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import type { ProvidedIdentity } from './provider.ts';

const username = Compile(Username);

/** A directory's text as a column takes it: without NUL, not empty, not without end. */
function clean(text: string | null, most: number): string | null {
  const cleaned = text?.replaceAll('\0', '').trim().slice(0, most) ?? '';
  return cleaned === '' ? null : cleaned;
}

/**
 * The ref of the account a directory vouches for, by its lasting id there; made on the first sign-in. Full name
 * and e-mail follow the directory. Null when the name is taken by another account: nobody inherits one by a name.
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
    .set({ fullname, email, updated_at: sql`now()` })
    .where('provider', '=', provider)
    .where('provider_subject', '=', identity.subject)
    .returning('ref')
    .executeTakeFirst();
  if (known !== undefined) return known.ref;
  if (!username.Check(identity.username) || identity.username.includes('\0')) {
    log.warn({ provider }, 'a directory entry has a name that no account may have');
    return null;
  }
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ ref: number }>`
      insert into users (username, provider, provider_subject, fullname, email, role_id)
      select ${identity.username}, ${provider}, ${identity.subject}, ${fullname}, ${email}, id
      from roles where code = 'member'
      on conflict do nothing returning ref`.execute(tx);
    const made = rows[0]?.ref;
    if (made !== undefined) {
      await recordEvent(tx, null, { event: 'user.created', subjectUserRef: made, metadata: { provider } });
      return made;
    }
    // Two first sign-ins at once: the other one made it. Any other conflict is somebody else's name.
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
