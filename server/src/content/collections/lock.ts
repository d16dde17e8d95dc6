import type { AssetSelection } from '@vitrine/contract/batches';
import { sql } from 'kysely';
import type { Caller, SignedIn } from '../../access/caller.ts';
import { editableCollections, readableCollections } from '../../access/collections.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';

/** A collection's row, read under its lock. */
export interface LockedCollection {
  id: string;
  cover_post_id: string | null;
  cover_focal_x: number | null;
  cover_focal_y: number | null;
  cover_focal_asset_id: string | null;
  updated_at: string;
  owner: number;
  /** Whether a query fills it. */
  smart: boolean;
}

/**
 * Locks a collection the caller may change: 404 when they may not open it, 403 when they may only open it. Every change
 * of a collection, its posts and their order takes this lock first, which serialises changes.
 */
export async function lockCollection(tx: Tx, caller: SignedIn, id: string): Promise<LockedCollection> {
  const { rows } = await sql<LockedCollection & { editable: boolean }>`
    select c.id, c.cover_post_id, c.cover_focal_x, c.cover_focal_y, c.cover_focal_asset_id, c.updated_at,
      c.owner_user_ref as owner, c.query is not null as smart, ${editableCollections(caller)} as editable
    from collections c where c.id = ${id} and ${readableCollections(caller)} for no key update of c`.execute(
    tx,
  );
  const row = rows[0];
  if (row === undefined) throw notFound();
  if (!row.editable) throw refuse('not-owner');
  return row;
}

/** Locks a collection to change its items or their order. Throws as lockCollection does, and 409 for a smart one. */
export async function lockItems(tx: Tx, caller: SignedIn, id: string): Promise<LockedCollection> {
  const locked = await lockCollection(tx, caller, id);
  if (locked.smart) throw refuse('collection-smart');
  return locked;
}

/** Returns the query that fills a collection, null if none does. Throws 404 unless the caller may open it. */
export async function readFilling(db: Database, caller: Caller, id: string): Promise<AssetSelection | null> {
  const { rows } = await sql<{ query: AssetSelection | null }>`
    select c.query from collections c where c.id = ${id} and ${readableCollections(caller)}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return row.query;
}

/** Throws 404 unless the caller may open this collection. */
export async function checkOpen(db: Database, caller: Caller, id: string): Promise<void> {
  const { rows } =
    await sql`select from collections c where c.id = ${id} and ${readableCollections(caller)}`.execute(db);
  if (rows.length === 0) throw notFound();
}
