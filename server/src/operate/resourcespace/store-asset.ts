import { sql } from 'kysely';
import { typeOfKind } from '../../content/assets/insert.ts';
import { insertAssets, type NewRow } from '../../content/assets/insert-many.ts';
import type { PreparedFile } from '../../content/assets/render-ahead.ts';
import { storeFiles } from '../../content/assets/store-files.ts';
import type { TypedValue } from '../../content/fields/values/typed-value.ts';
import { writeDocuments } from '../../content/search-index/documents.ts';
import { keysOf } from '../../media/ladder.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { unlessEdited } from '../imports/edited.ts';
import type { Context } from './context.ts';
import { giveShares, keepShares, type Placement, sensitivity, statusOf } from './placement.ts';
import { writeValues } from './values.ts';

/** What an asset is made of, besides its file. */
export interface AboutAsset {
  title: string | null;
  createdAt: string | null;
  values: ReadonlyMap<string, TypedValue>;
  type: number | undefined;
  state: string | undefined;
  archive: number;
}

/** An asset to create. */
export interface ToCreate {
  about: AboutAsset;
  placement: Placement;
  fileName: string;
  file: PreparedFile;
}

function rowOf({ about, placement, fileName, file }: ToCreate): NewRow {
  const { exposure, team, owner } = placement;
  const { hash, mime, kind } = file.received;
  return {
    owner,
    hash,
    mime,
    title: about.title ?? '',
    asset_type: about.type ?? typeOfKind[kind],
    status: statusOf(about.archive),
    sensitivity: sensitivity(exposure, team),
    file_name: fileName,
    team_id: team,
    state: about.state ?? null,
    created_at: about.createdAt,
  };
}

/**
 * Creates assets with their files, values and readers, in the transaction that records them. Returns their ids in the same
 * order (IMPORT-16).
 */
export async function createAssets(tx: Tx, context: Context, made: readonly ToCreate[]): Promise<string[]> {
  const { deps, owner } = context;
  await storeFiles(
    tx,
    deps,
    made.map(({ file }) => file),
    owner.ref,
  );
  const ids = await insertAssets(tx, keysOf(deps.ladder), made.map(rowOf));
  const created = made.map(({ about, placement }, place) => ({
    id: ids[place] ?? '',
    values: about.values,
    exposure: placement.exposure,
  }));
  await writeValues(tx, created);
  await giveShares(tx, context, created);
  await writeDocuments(tx, 'assets', ids);
  return ids;
}

/** Writes what has changed since an earlier run, except its file and what people have edited here. */
export async function updateAsset(
  tx: Tx,
  context: Context,
  id: string,
  { title, values, type, state, archive }: AboutAsset,
  { exposure, team }: Placement,
): Promise<void> {
  const known = sql`coalesce(${type ?? null}::integer, asset_type)`;
  await sql`update assets set ${unlessEdited(id, 'title', sql`${title ?? ''}::text`)},
      ${unlessEdited(id, 'sensitivity', sql`${sensitivity(exposure, team)}::text`)}, team_id = ${team}::uuid,
      ${unlessEdited(id, 'status', sql`${statusOf(archive)}::text`)}, ${unlessEdited(id, 'asset_type', known)},
      state_id = coalesce(${state ?? null}::uuid, state_id), updated_at = now()
    where id = ${id}`.execute(tx);
  await writeValues(tx, [{ id, values }]);
  await keepShares(tx, context, id, exposure);
}
