import { sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { isExposureName } from '../stacks/series.ts';
import { textOf } from './walk.ts';

/** Notes that the files of a root which are stored from now on are not stacked yet (ROOT-17). */
export async function noteUnstacked(tx: Tx, rootId: string): Promise<void> {
  await sql`update roots set unstacked_from = (select coalesce(max(id), 0) from root_files)
    where id = ${rootId} and unstacked_from is null`.execute(tx);
}

/** Returns the photos and raw files of a root that an earlier scan has stored but, because it was killed, not stacked. */
export async function leftUnstacked(db: Database, rootId: string): Promise<{ path: Buffer }[]> {
  const { rows } = await sql<{ path: Buffer }>`
    select f.path from roots r join root_files f on f.root_id = r.id and f.id > r.unstacked_from
    where r.id = ${rootId} and f.asset_id is not null and not f.is_sidecar and not f.is_film
      and f.missing_since is null
    order by f.path`.execute(db);
  return rows.filter(({ path }) => isExposureName(textOf(path)));
}
