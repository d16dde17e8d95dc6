import { sql } from 'kysely';
import { activeAccount } from '../../access/live.ts';
import { keyOfEmail } from '../../people/identity/email-keys.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { ImmichLibrary } from './library.ts';

/**
 * Finds the accounts here of the members of albums, by their ids there. An account here counts only if it alone has
 * confirmed that address: anyone can enter the address of another person (IMPORT-14).
 */
export async function findAccounts(
  db: Database,
  { albums }: Pick<ImmichLibrary, 'albums'>,
): Promise<Map<string, number>> {
  const members = albums.flatMap((album) => album.members);
  const keys = new Map(members.map(({ id, email }) => [id, keyOfEmail(email) ?? '']));
  const { rows } = await sql<{ key: string; ref: number }>`
    select u.email_key as key, min(u.ref) as ref from users u
    where u.email_key = any(${[...new Set(keys.values())]}::text[]) and ${activeAccount('u')}
      and u.email_confirmed_at is not null
    group by u.email_key having count(*) = 1`.execute(db);
  const byKey = new Map(rows.map(({ key, ref }) => [key, ref]));
  return new Map(
    [...keys].flatMap(([id, key]) => {
      const ref = byKey.get(key);
      return ref === undefined ? [] : [[id, ref] as const];
    }),
  );
}
