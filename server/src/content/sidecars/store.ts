import { sql } from 'kysely';
import { registerTags } from '../../core/tag-register.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { enqueueExtract } from '../assets/decoding-jobs.ts';
import type { ReadSidecar } from './read.ts';

/** ASSET-19: the most tags of an asset. */
const MOST_TAGS = 50;

/** Adds tags to an asset, as long as it has room. */
async function addTags(tx: Tx, assetId: string, names: readonly string[]): Promise<void> {
  const tags = await registerTags(tx, [...names]);
  if (tags.length === 0) return;
  await sql`insert into asset_tags (asset_id, value, source, position)
    select ${assetId}, given.tag, 'import', had.next + given.place
    from unnest(${tags}::text[]) with ordinality given (tag, place),
      (select coalesce(max(position), -1) as next, count(*) as tags from asset_tags where asset_id = ${assetId}) had
    where had.tags + given.place <= ${MOST_TAGS}
      and not exists (select from asset_tags t where t.asset_id = ${assetId} and t.value = given.tag)`.execute(
    tx,
  );
}

/** Returns whether the asset did not have this sidecar, or another one of its kind. */
async function keepSidecar(tx: Tx, assetId: string, sidecar: ReadSidecar): Promise<boolean> {
  const { kind, fileName, hash, sources, raw } = sidecar;
  const { numAffectedRows = 0n } = await sql`
    insert into asset_sidecars as s (asset_id, kind, file_name, file_hash, sources, raw)
    values (${assetId}, ${kind}, ${fileName}, ${hash}, ${JSON.stringify(sources)}::jsonb, ${JSON.stringify(raw)}::jsonb)
    on conflict (asset_id, kind) do update set file_name = excluded.file_name, file_hash = excluded.file_hash,
      sources = excluded.sources, former = s.sources, raw = excluded.raw, created_at = now()
      where s.file_hash <> excluded.file_hash`.execute(tx);
  return numAffectedRows > 0n;
}

/**
 * Stores sidecars of an asset, and fills its fields from them in the background. A sidecar replaces an earlier one of its
 * kind; the same one again changes nothing (SIDECAR-4).
 */
export async function attachMetadata(
  tx: Tx,
  asset: { id: string; hash: string; ownerRef: number },
  sidecars: readonly ReadSidecar[],
): Promise<boolean> {
  const fresh: ReadSidecar[] = [];
  for (const sidecar of sidecars) if (await keepSidecar(tx, asset.id, sidecar)) fresh.push(sidecar);
  if (fresh.length === 0) return false;
  await addTags(
    tx,
    asset.id,
    fresh.flatMap(({ tags }) => tags),
  );
  const { id, hash, ownerRef } = asset;
  await enqueueExtract(tx, { hash, asset: id, ownerRef, renews: true });
  return true;
}
