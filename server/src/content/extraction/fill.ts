import { sql } from 'kysely';
import { notifyPeers } from '../../core/outbox/enqueue.ts';
import type { ExtractedValues, Origin } from '../../media/metadata/source.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { titleFrom } from '../assets/insert.ts';
import { holdDocuments, writeDocuments } from '../search-index/documents.ts';
import { combined, type KeptSidecar } from '../sidecars/combine.ts';
import { offerFor } from './offer.ts';
import { fits, type WiredField } from './wiring.ts';
import { type RawValue, type WriteMode, writeSystemValue } from './write-value.ts';

/** Assets read per statement, because the number of assets with the same bytes has no limit. */
const BATCH = 200;

/** What was processed. */
export interface Filled {
  assets: number;
  values: number;
}

/** A wired field, and how it is written. */
export type FilledField = Omit<WiredField, 'mode'> & { mode: WriteMode };

/** VALUE-6: the `set_by` of a value from a file. */
const setByOf: Record<Origin, 'exif' | 'iptc' | 'xmp' | 'import'> = {
  exif: 'exif',
  iptc: 'iptc',
  xmp: 'xmp',
  file: 'import',
};

interface AssetRow extends Columns<'assets', 'id' | 'asset_type'> {
  sidecars: KeptSidecar[];
  /** Other versions of the asset, and what was read from their files. */
  versions: { file_name: string; sources: ExtractedValues | null }[];
}

/** Returns the next assets of these bytes, including those in the trash, which may be restored. */
async function nextAssets(
  db: Database,
  hash: string,
  asset: string | null,
  after: string | null,
): Promise<AssetRow[]> {
  const { rows } = await sql<AssetRow>`
    select a.id, a.asset_type, coalesce((
        select jsonb_agg(jsonb_build_object('kind', s.kind, 'sources', s.sources, 'former', s.former)
          order by array_position(array['takeout', 'stem', 'named', 'immich'], s.kind))
        from asset_sidecars s where s.asset_id = a.id), '[]') as sidecars, coalesce((
        select jsonb_agg(jsonb_build_object('file_name', v.file_name, 'sources', m.sources))
        from asset_versions v left join file_metadata m on m.hash = v.file_hash
        where v.asset_id = a.id and v.file_hash <> a.file_hash), '[]') as versions
    from assets a where a.file_hash = ${hash}
      and ${asset === null ? sql`true` : sql`a.id = ${asset}`}
      and ${after === null ? sql`true` : sql`a.id > ${after}`}
    order by a.id limit ${BATCH}`.execute(db);
  return rows;
}

/** Returns the values of a source in the other versions of an asset; a file without a title has its name (EXTRACT-17). */
function earlierValues({ versions }: AssetRow, source: keyof ExtractedValues): RawValue[] {
  return versions.flatMap(({ file_name, sources }) => {
    const value = sources?.[source]?.value;
    const name = source === 'title' ? [titleFrom(file_name)] : [];
    return value === undefined ? name : [value, ...name];
  });
}

/** Fills one asset: all of its fields, or none when interrupted. Returns how many values were written. */
async function fillAsset(
  db: Database,
  asset: AssetRow,
  wiring: readonly FilledField[],
  embedded: ExtractedValues,
): Promise<number> {
  const { sidecars } = asset;
  const sources = combined(embedded, sidecars);
  const others = [embedded, ...sidecars.flatMap((sidecar) => [sidecar.sources, sidecar.former])];
  const writes = wiring.flatMap(({ id: fieldId, type, mode, source, applies_to }) => {
    const read = sources[source];
    if (read === undefined || !fits({ applies_to }, asset.asset_type)) return [];
    const found = offerFor(type, read.value);
    if (found === undefined) return [];
    const former =
      sidecars.length === 0
        ? []
        : others.flatMap((other) => {
            const value = other[source]?.value;
            return value === undefined ? [] : [value];
          });
    const earlier = mode === 'renew' ? earlierValues(asset, source) : [];
    return [{ fieldId, mode, found, setBy: setByOf[read.from], former, earlier }];
  });
  if (writes.length === 0) return 0;
  return db.transaction().execute(async (tx) => {
    // Locks the asset and all definitions before the first value, in the order of every writer: a change of a
    // definition that rewrites documents would otherwise deadlock with this one.
    await sql`select from assets where id = ${asset.id} for no key update`.execute(tx);
    await sql`select from fields where id = any(${writes.map(({ fieldId }) => fieldId)}::uuid[])
      order by id for key share`.execute(tx);
    // Each value would otherwise write the whole search document anew (EXTRACT-18).
    await holdDocuments(tx);
    let written = 0;
    for (const write of writes) {
      const outcome = await writeSystemValue(tx, { assetId: asset.id, ...write });
      if (outcome === 'written') written += 1;
    }
    if (written > 0) {
      await writeDocuments(tx, 'assets', [asset.id]);
      await notifyPeers(tx, { activity: 'update', kind: 'asset', objectId: asset.id, actorRef: null });
    }
    return written;
  });
}

/** Fills the wired fields of one asset, or of every one of these bytes; each asset in its own transaction. */
export async function fillAssets(
  db: Database,
  { hash, asset }: { hash: string; asset: string | null },
  wiring: readonly FilledField[],
  sources: ExtractedValues,
): Promise<Filled> {
  const filled: Filled = { assets: 0, values: 0 };
  let after: string | null = null;
  do {
    const rows: AssetRow[] = await nextAssets(db, hash, asset, after);
    for (const row of rows) filled.values += await fillAsset(db, row, wiring, sources);
    filled.assets += rows.length;
    after = rows.length === BATCH ? (rows.at(-1)?.id ?? null) : null;
  } while (after !== null);
  return filled;
}
