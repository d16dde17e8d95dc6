import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { isRenderable } from '../../media/renderable.ts';
import type { Columns, Tx } from '../../platform/database/pool.ts';
import { hasDefaults, seedAlike } from '../fields/values/seed.ts';
import { holdDocuments } from '../search-index/documents.ts';
import { enqueueRendered } from './decoding-jobs.ts';
import { copyEmbedded, firstState } from './insert.ts';

/** A new asset of stored bytes. */
export interface NewRow
  extends Columns<'assets', 'title' | 'asset_type' | 'status' | 'sensitivity' | 'file_name' | 'team_id'> {
  owner: number;
  hash: string;
  mime: string;
  /** Null for the first state. */
  state: string | null;
  /** When it was created in the system from which it is imported; null for now. */
  created_at: string | null;
}

interface Inserted extends NewRow {
  id: string;
  /** Whether its renditions have to be made. */
  waits: boolean;
}

async function insertRows(
  tx: Tx,
  ladderKeys: readonly string[],
  assets: readonly NewRow[],
): Promise<Inserted[]> {
  const rows = assets.map((asset) => ({ ...asset, id: randomUUID(), renderable: isRenderable(asset.mime) }));
  const { rows: inserted } = await sql<{ id: string; processing_status: string }>`
    insert into assets (id, owner_user_ref, title, asset_type, status, sensitivity, file_hash, file_name, team_id, state_id,
      created_at, processing_status)
    select x.id, x.owner, x.title, x.asset_type, x.status, x.sensitivity, x.hash, x.file_name, x.team_id,
      coalesce(x.state, ${firstState}), coalesce(x.created_at, now()),
      case when x.renderable and not f.renditions ?& ${[...ladderKeys]}::text[] then 'pending' else 'ready' end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (id uuid, owner bigint, title text, asset_type integer,
      status text, sensitivity text, hash text, file_name text, team_id uuid, state uuid, created_at timestamptz,
      renderable boolean)
    join files f on f.hash = x.hash
    returning id, processing_status`.execute(tx);
  const waiting = new Set(inserted.flatMap((row) => (row.processing_status === 'pending' ? [row.id] : [])));
  return rows.map((row) => ({ ...row, waits: waiting.has(row.id) }));
}

/** Gives new assets the defaults of fields. Those that are alike in what defaults depend on get the same ones. */
async function seedDefaults(tx: Tx, assets: readonly Inserted[]): Promise<void> {
  const alike = Map.groupBy(assets, ({ asset_type, team_id, owner }) => `${asset_type} ${team_id} ${owner}`);
  for (const [, [first, ...others]] of alike) {
    const ids = others.map(({ id }) => id);
    if (first !== undefined) await seedAlike(tx, first.owner, first.id, ids);
  }
}

/**
 * Creates assets from stored bytes as `insertAsset` does, with the defaults of their fields, in few statements. Returns their
 * ids in the order of the rows. Their metadata is read later (`readMetadataNow`). The caller adds their values and then writes
 * their search documents.
 */
export async function insertAssets(
  tx: Tx,
  ladderKeys: readonly string[],
  rows: readonly NewRow[],
): Promise<string[]> {
  await holdDocuments(tx);
  const assets = await insertRows(tx, ladderKeys, rows);
  if (await hasDefaults(tx)) await seedDefaults(tx, assets);
  for (const { id, hash, mime, waits } of assets)
    if (!waits && /^(video|audio)\//.test(mime)) await copyEmbedded(tx, id, hash);
  await enqueueRendered(tx, assets);
  return assets.map(({ id }) => id);
}
