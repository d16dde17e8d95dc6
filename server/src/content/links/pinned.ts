import type { TargetKind } from '@vitrine/contract/links';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { recordFirstVersion } from '../assets/version-rows.ts';

/**
 * Checks the version that a link to this target is to show, and writes its row. Refuses (400) one of a post or a collection,
 * and (404) one that the asset does not have. The caller holds the row of the target.
 */
export async function checkVersion(
  tx: Tx,
  { kind, id }: { kind: TargetKind; id: string },
  version: number,
): Promise<void> {
  if (kind !== 'asset') throw refuse('version-of-asset-only');
  await recordFirstVersion(tx, id);
  const found = await tx
    .selectFrom('asset_versions')
    .select('number')
    .where('asset_id', '=', id)
    .where('number', '=', version)
    .executeTakeFirst();
  if (found === undefined) throw refuse('version-not-found');
}
