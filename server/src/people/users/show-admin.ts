import type { Legacy } from '@vitrine/contract/legacy';
import type { AdminUser } from '@vitrine/contract/users';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { displayName, readerOfNames, seesPersonalData } from '../../access/identities.ts';
import { legacyJson } from '../../access/legacy.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { WaysToSignIn } from '../identity/ways-to-sign-in.ts';
import { type SignInColumns, shownState, signInState } from './sign-in-state.ts';

interface AccountRow extends Omit<AdminUser, 'sign_in' | 'legacy'>, SignInColumns {
  fullname: string | null;
  email: string | null;
  legacy: Legacy | null;
}

/** Returns accounts as administrators see them; full name and e-mail need `users.pii.read` (USER-8). */
export async function showAdminUsers(
  db: Database,
  caller: SignedIn,
  ways: WaysToSignIn,
  where: RawBuilder<boolean>,
  rest: RawBuilder<unknown> = sql``,
): Promise<AdminUser[]> {
  const personal = seesPersonalData(caller);
  const { rows } = await sql<AccountRow>`
    select u.ref, u.username, ${displayName(readerOfNames(caller), 'u')} as display_name,
      u.display_name as own_display_name,
      u.fullname, u.email, r.code as role, u.status, u.provider, f.confirmed_at is not null as two_factor,
      coalesce(u.preferences ->> 'language', '') as language, u.expires_at, state.by, state.obstacle,
      u.created_at, u.last_seen_at, ${legacyJson(caller, 'user', 'u.ref')} as legacy
    from users u join roles r on r.id = u.role_id left join two_factor f on f.user_ref = u.ref
      ${signInState(ways)}
    where ${where} ${rest}`.execute(db);
  return rows.map(({ fullname, email, by, obstacle, legacy, ...user }) => ({
    ...user,
    ...(legacy === null ? {} : { legacy }),
    ...(personal ? { fullname, email } : {}),
    sign_in: shownState({ by, obstacle }),
  }));
}
