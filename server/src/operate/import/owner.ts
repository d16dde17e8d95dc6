import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { ConfigError } from '../../core/config.ts';
import type { Database } from '../../platform/database/pool.ts';
import { sentence } from '../../platform/language/sentence.ts';

/**
 * Returns the owner of the new assets: the named account, or the oldest account with the administrator role. Throws a
 * ConfigError if there is none.
 */
export async function findOwner(db: Database, username: string | undefined): Promise<number> {
  const rows =
    username === undefined
      ? await db
          .selectFrom('users as u')
          .innerJoin('roles as r', 'r.id', 'u.role_id')
          .select('u.ref')
          .where('r.code', '=', 'admin')
          .orderBy('u.ref')
          .limit(sql.lit(1))
          .execute()
      : await db.selectFrom('users').select('ref').where('username_key', '=', foldName(username)).execute();
  const ref = rows[0]?.ref;
  if (ref !== undefined) return ref;
  throw new ConfigError(
    username === undefined
      ? sentence('the library has no administrator yet; start it and set it up')
      : sentence('no user {name}', { name: username }),
  );
}
