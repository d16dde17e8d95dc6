import { sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';
import type { RootRow } from '../root-files/root.ts';
import { isExposureName } from '../stacks/series.ts';
import { textOf } from './walk.ts';

/** Notes that the files of a root which are stored from now on are not stacked yet (ROOT-17). */
export async function noteUnstacked(tx: Tx, rootId: string): Promise<void> {
  await sql`update roots set unstacked_from = (select coalesce(max(id), 0) from root_files)
    where id = ${rootId} and unstacked_from is null`.execute(tx);
}

/** Returns the photos and raw files of a root that an earlier scan has stored but, because it was killed, not stacked. */
export async function leftUnstacked(
  db: Database,
  { id, unstacked_from }: Pick<RootRow, 'id' | 'unstacked_from'>,
): Promise<{ path: Buffer }[]> {
  if (unstacked_from === null) return [];
  const { rows } = await sql<{ path: Buffer }>`
    select path from root_files where root_id = ${id} and id > ${unstacked_from} and asset_id is not null
      and not is_sidecar and not is_film and missing_since is null order by path`.execute(db);
  return rows.filter(({ path }) => isExposureName(textOf(path)));
}
