import { type Duplicates, listDuplicates } from '@vitrine/contract/duplicates';
import { sql } from 'kysely';
import { editableAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { type AssetRow, assetColumns, assetJoins, showRow } from '../assets/show.ts';
import { editableCopies, exactId, type Group, readCopies } from './groups.ts';

interface GroupRow {
  id: string;
  at: string;
  hashes: string[];
  /** How many of the 128 bits differ; null for the same bytes. */
  bits: number | null;
}

/** Pairs of assets that nobody has marked as different. */
const unmarked = sql`not exists (select from different_assets d
  where d.first_id = least(x.id, y.id) and d.second_id = greatest(x.id, y.id))`;

/** Groups of assets with the same bytes, each with the time of its newest. */
function exactGroups(caller: SignedIn) {
  // Most files have one asset, and need no further look.
  const copies = editableCopies(caller, sql`a.file_hash in (select c.hash from files c where c.has_copies)`);
  // Evaluated once, although it is joined with itself.
  return sql`with copies as materialized (select * from ${copies} c)
    select ${exactId} as id, max(greatest(x.created_at, y.created_at)) as at, array[x.file_hash] as hashes,
      null::integer as bits
    from copies x join copies y on y.file_hash = x.file_hash and y.id > x.id
    where ${unmarked} group by x.file_hash`;
}

/** Pairs of similar files of which the caller may edit assets. */
function similarGroups(caller: SignedIn) {
  const copies = editableCopies(
    caller,
    sql`a.file_hash in (select first_hash from similar_files union select second_hash from similar_files)`,
  );
  return sql`with copies as materialized (select * from ${copies} c)
    select s.id, s.found_at as at, array[s.first_hash, s.second_hash] as hashes, s.bits
    from similar_files s join copies x on x.file_hash = s.first_hash join copies y on y.file_hash = s.second_hash
    where ${unmarked} group by s.id`;
}

/** Returns the assets with these ids as the caller sees them. */
async function readShown({ db, ladder }: Deps, caller: SignedIn, ids: readonly string[]) {
  const { rows } = await sql<AssetRow>`
    select ${assetColumns(caller, ladder)} from assets a ${assetJoins}
    where a.id = any(${[...ids]}::uuid[]) and ${editableAssets(caller)}`.execute(db);
  return new Map(rows.map((row) => [row.asset_id, showRow(caller, row)]));
}

async function readGroups(
  db: Database,
  caller: SignedIn,
  kind: Group['kind'],
  query: PageQuery,
): Promise<{ rows: GroupRow[]; next: string | null }> {
  const page = newestFirst(query, 'g.at', 'g.id');
  const groups = kind === 'exact' ? exactGroups(caller) : similarGroups(caller);
  const { rows } = await sql<GroupRow>`
    select g.id, g.at, g.hashes, g.bits from (${groups}) g where ${page.after} ${page.order}`.execute(db);
  return page.cut(rows, ({ at, id }) => ({ at, id }));
}

const BITS = 128;

export const list = handle(listDuplicates, async (deps, { caller, query }) => {
  const { kind = 'exact', ...paging } = query;
  const { rows, next } = await readGroups(deps.db, caller, kind, paging);
  const copies = await readCopies(
    deps.db,
    caller,
    rows.flatMap(({ hashes }) => hashes),
  );
  const shown = await readShown(deps, caller, [...copies.values()].flat());
  const items = rows.flatMap(({ id, hashes, bits }): Duplicates[] => {
    const assets = hashes
      .flatMap((hash) => copies.get(hash) ?? [])
      .flatMap((assetId) => {
        const asset = shown.get(assetId);
        return asset === undefined || asset.restricted ? [] : [asset];
      });
    // They may have been deleted meanwhile.
    if (assets.length < 2) return [];
    return [{ id, kind, assets, ...(bits === null ? {} : { distance: bits / BITS }) }];
  });
  return { status: 200, body: { items, next_cursor: next } };
});
