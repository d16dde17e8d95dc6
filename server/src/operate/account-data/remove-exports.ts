import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { exportKey } from '../../platform/storage/object-key.ts';

/** Exports removed at a time. */
const BATCH = 100;

/**
 * Removes exports that have expired or were replaced, or whose account is gone, with their files (EXPORT-18). One that is
 * written notices that its row is gone.
 */
export async function removeExports({ db, storage }: Pick<Deps, 'db' | 'storage'>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ id: string }>`
      select e.id from account_exports e where e.expires_at <= now() or e.user_ref is null
      order by e.id limit ${BATCH}`.execute(db);
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    for (const id of ids) await storage.delete(exportKey(id));
    await db.deleteFrom('account_exports').where('id', 'in', ids).execute();
  }
}
