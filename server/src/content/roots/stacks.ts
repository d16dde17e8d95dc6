import { sql } from 'kysely';
import { rawPairs } from '../stacks/raw-pairs.ts';
import { stackFree } from '../stacks/store.ts';
import type { Scan } from './examine.ts';
import { textOf } from './walk.ts';

interface Beside {
  path: Buffer;
  id: string;
}

/** Raw files of one transaction. */
const PART = 500;

/** Returns the assets whose files have the names of these raw files, with any extension. */
async function assetsBeside({ deps, root }: Scan, raws: readonly Buffer[]): Promise<Beside[]> {
  const bases = raws.map((path) => path.subarray(0, path.lastIndexOf(0x2e)));
  const starts = bases.map((base) => Buffer.concat([base, Buffer.from('.')]));
  const ends = bases.map((base) => Buffer.concat([base, Buffer.from('/')]));
  const { rows } = await sql<Beside>`
    select distinct f.path, a.id
    from unnest(${starts}::bytea[], ${ends}::bytea[]) b (start, stop)
      join root_files f on f.root_id = ${root.id} and f.path >= b.start and f.path < b.stop
      join assets a on a.id = f.asset_id
    where not f.is_sidecar and not f.is_film and f.missing_since is null and a.deleted_at is null
    order by f.path`.execute(deps.db);
  return rows;
}

/** Stacks the raw files that the walk has found with the photos of their names in the same folder (ROOT-17). */
export async function stackRaws(scan: Scan): Promise<void> {
  const { raws } = scan;
  scan.raws = [];
  for (let at = 0; at < raws.length; at += PART) {
    const beside = await assetsBeside(scan, raws.slice(at, at + PART));
    const groups = rawPairs(beside.map(({ path, id }) => ({ name: textOf(path), id })));
    if (groups.length === 0) continue;
    await scan.deps.db.transaction().execute(async (tx) => {
      await scan.lease.hold(tx);
      await stackFree(
        tx,
        groups.map((group) => group.map(({ id }) => id)),
      );
    });
  }
}
