import { sql } from 'kysely';
import { isAdministrator } from '../../access/accounts.ts';
import { addStarterFields } from '../../content/fields/definitions/starter.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';

/** Returns whether no account is an administrator: the library needs set-up (SETUP-1). */
export async function needsSetup(db: Database): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from users u where ${isAdministrator}) as found`.execute(db);
  return rows[0]?.found !== true;
}

/**
 * Runs `create` while no administrator exists, one caller at a time; returns null when there is one. A new library gets
 * its starter fields in the same transaction.
 */
export async function createFirstAdministrator<T>(
  db: Database,
  create: (tx: Tx) => Promise<T>,
): Promise<T | null> {
  return db.transaction().execute(async (tx) => {
    await takeLock(tx, 'setUp');
    if (!(await needsSetup(tx))) return null;
    const created = await create(tx);
    await addStarterFields(tx);
    return created;
  });
}
