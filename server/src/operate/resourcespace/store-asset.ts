import { sql } from 'kysely';
import { insertAsset, storeFile } from '../../content/assets/insert.ts';
import type { TypedValue } from '../../content/fields/values/typed-value.ts';
import { keysOf } from '../../media/ladder.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { unlessEdited } from '../imports/edited.ts';
import type { Context } from './context.ts';
import type { Original } from './originals.ts';
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

/** Creates an asset with its values and readers, in the transaction that records it. */
export async function createAsset(
  tx: Tx,
  context: Context,
  { original, title, createdAt, values, type, state, archive }: AboutAsset & { original: Original },
  { exposure, team, owner }: Placement,
): Promise<string> {
  const { deps } = context;
  const { hash, mime, kind } = original.received;
  await storeFile(tx, deps.storage, original.received);
  const id = await insertAsset(tx, {
    ownerRef: owner,
    ladderKeys: keysOf(deps.ladder),
    hash,
    mime,
    kind,
    fileName: original.fileName,
    fields: {
      title: title ?? '',
      sensitivity: sensitivity(exposure, team),
      team_id: team,
      status: statusOf(archive),
      ...(type === undefined ? {} : { asset_type: type }),
    },
    ...(createdAt === null ? {} : { createdAt }),
    ...(state === undefined ? {} : { stateId: state }),
  });
  await writeValues(tx, id, values);
  await giveShares(tx, context, id, exposure);
  return id;
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
  await writeValues(tx, id, values);
  await keepShares(tx, context, id, exposure);
}
