import { foldedStem, isMetadataName, type MetadataMatch, metadataMatch } from '@vitrine/contract/sidecars';
import { sql } from 'kysely';
import { liveAsset } from '../../access/assets.ts';
import type { Database } from '../../platform/database/pool.ts';

interface NamedAsset {
  id: string;
  name: string;
}

/** The name of the file of an asset `a` without its extension, in the form of `foldedStem`. It has an index for each owner. */
export const stemColumn = sql<string>`lower(normalize(regexp_replace(a.file_name, '\\.[^.]*$', ''), nfc) collate "C")`;

/** Of more files with one name than these, the newest count. */
const MOST_CANDIDATES = 100;

/**
 * Returns the newest asset of this owner to which an XMP sidecar of this name belongs (SIDECAR-2); null for another
 * name, and when there is no such asset.
 */
export async function findDescribed(
  db: Database,
  ownerRef: number,
  sidecarName: string,
): Promise<MetadataMatch<NamedAsset> | null> {
  if (!isMetadataName(sidecarName)) return null;
  const base = foldedStem(sidecarName);
  const stems = [base, foldedStem(base)];
  // Materialized, because the planner would otherwise walk all assets in the order of their age.
  const { rows } = await sql<NamedAsset>`
    with sharing as materialized (
      select a.id, a.file_name as name, a.created_at from assets a
      where a.owner_user_ref = ${ownerRef} and ${liveAsset}
        and ${stemColumn} = any(${stems}::text[]))
    select id, name from sharing order by created_at desc, id desc limit ${MOST_CANDIDATES}`.execute(db);
  return metadataMatch(sidecarName, rows);
}
