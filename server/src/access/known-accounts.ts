import type { Database } from '../platform/database/pool.ts';
import { refuse } from '../platform/http/refuse.ts';

/** Throws the 404 `user not found` unless the account exists. */
export async function checkUser(db: Database, ref: number): Promise<void> {
  const user = await db.selectFrom('users').select('ref').where('ref', '=', ref).executeTakeFirst();
  if (user === undefined) throw refuse('user-not-found');
}
