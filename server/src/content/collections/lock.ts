import { sql } from 'kysely';
import type { Caller, SignedIn } from '../../access/caller.ts';
import { editableCollections, readableCollections } from '../../access/collections.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';

/** A collection's row, read under its lock. */
export interface LockedCollection {
  id: string;
  cover_post_id: string | null;
  updated_at: string;
  owner: number;
}

/**
 * Locks a collection the caller may change: 404 when they may not open it, 403 when they may only open it. Every change
 * of a collection, its posts and their order takes this lock first, which serialises changes.
 */
export async function lockCollection(tx: Tx, caller: SignedIn, id: string): Promise<LockedCollection> {
  const { rows } = await sql<LockedCollection & { editable: boolean }>`
    select c.id, c.cover_post_id, c.updated_at, c.owner_user_ref as owner, ${editableCollections(caller)} as editable
    from collections c where c.id = ${id} and ${readableCollections(caller)} for no key update of c`.execute(
    tx,
  );
  const row = rows[0];
  if (row === undefined) throw notFound();
  if (!row.editable) throw refuse('not-owner');
  return row;
}

/** Throws 404 unless the caller may open this collection. */
export async function checkOpen(db: Database, caller: Caller, id: string): Promise<void> {
  const { rows } =
    await sql`select from collections c where c.id = ${id} and ${readableCollections(caller)}`.execute(db);
  if (rows.length === 0) throw notFound();
}
