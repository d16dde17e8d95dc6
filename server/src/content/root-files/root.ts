import type { Sensitivity } from '@vitrine/contract/assets';
import type { PathField } from '@vitrine/contract/roots';
import { type RawBuilder, sql } from 'kysely';
import type { Columns, Database } from '../../platform/database/pool.ts';

/** A root with the rules of its files. */
export interface RootRow
  extends Columns<
    'roots',
    'id' | 'path' | 'owner_user_ref' | 'team_id' | 'writable' | 'skip' | 'identity' | 'scan_id'
  > {
  sensitivity: Sensitivity;
  sidecars: 'off' | 'read' | 'write';
  fields: PathField[];
}

/** Returns the roots that match, in the order of their paths. */
export async function readRoots(db: Database, which: RawBuilder<boolean>): Promise<RootRow[]> {
  const { rows } = await sql<RootRow>`
    select r.id, r.path, r.owner_user_ref, r.team_id, r.writable, r.skip, r.identity, r.scan_id, r.sensitivity,
      r.sidecars, r.fields
    from roots r where ${which} order by r.path`.execute(db);
  return rows;
}

/** Returns a root; null if there is none. */
export async function readRoot(db: Database, id: string): Promise<RootRow | null> {
  return (await readRoots(db, sql`r.id = ${id}`))[0] ?? null;
}
