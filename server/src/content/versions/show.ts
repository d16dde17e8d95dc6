import { type AssetVersion, listAssetVersions, MOST_VERSIONS } from '@vitrine/contract/versions';
import { type RawBuilder, sql } from 'kysely';
import { versionedAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { identityJson } from '../../access/identities.ts';
import { handle } from '../../core/handle.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { extensionOf } from '../assets/file-name.ts';
import { versionsOfAsset } from '../assets/version-rows.ts';

interface ShownRow
  extends Columns<'asset_versions', 'number' | 'file_hash' | 'file_name' | 'note' | 'created_at'>,
    Columns<'files', 'extension' | 'size_bytes' | 'pixel_width' | 'pixel_height'> {
  current: boolean;
  created_by: AssetVersion['created_by'] | null;
}

function shownVersion({ file_name, extension, size_bytes, created_by, ...row }: ShownRow): AssetVersion {
  return {
    ...row,
    file_extension: extensionOf({ extension, file_name }),
    file_size_bytes: size_bytes,
    ...(created_by == null ? {} : { created_by }),
  };
}

/** Returns versions of an asset, newest first, under the rule of versions; none for other callers. */
async function readVersions(
  db: Database,
  caller: SignedIn,
  id: string,
  which: RawBuilder<boolean>,
): Promise<AssetVersion[]> {
  const { rows } = await sql<ShownRow>`
    select v.number, v.number = (select max(l.number) from (select r.number from asset_versions r
        where r.asset_id = a.id union all select 1) l) as current,
      v.file_hash, v.file_name, v.note, v.created_at, f.extension, f.size_bytes, f.pixel_width, f.pixel_height,
      ${identityJson(caller, 'u')} as created_by
    from assets a cross join ${versionsOfAsset} join files f on f.hash = v.file_hash
      left join users u on u.ref = v.created_by_user_ref
    where a.id = ${id} and ${versionedAssets(caller)} and ${which}
    order by v.number desc limit ${MOST_VERSIONS}`.execute(db);
  return rows.map(shownVersion);
}

/** Returns one version of an asset; null for callers who may not edit it, and if there is none with this number. */
export async function readVersion(
  db: Database,
  caller: SignedIn,
  id: string,
  number: number,
): Promise<AssetVersion | null> {
  const [version] = await readVersions(db, caller, id, sql`v.number = ${number}`);
  return version ?? null;
}

/** `GET /assets/{id}/versions`. */
export const list = handle(listAssetVersions, async ({ db }, { caller, params }) => {
  const items = await readVersions(db, caller, params.id, sql`true`);
  if (items.length === 0) throw notFound();
  return { status: 200, body: { items } };
});
