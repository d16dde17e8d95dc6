import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { keysOf } from '../../media/ladder.ts';
import { kindOf } from '../../media/sniff.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { readVersioned, replaceFile } from '../versions/replace.ts';

/**
 * Makes the bytes that a file has now the next version of its asset, unless it has them already. Returns false if there is
 * no such asset, or the bytes are of another kind: the asset then loses its file.
 */
export async function addVersionOf(
  { ladder }: Pick<Deps, 'ladder'>,
  tx: Tx,
  owner: SignedIn,
  assetId: string,
  file: { hash: string; mime: string; name: string },
): Promise<boolean> {
  await sql`select from assets where id = ${assetId} for no key update`.execute(tx);
  const asset = await readVersioned(tx, assetId);
  if (asset === null) return false;
  if (asset.file_hash === file.hash) return true;
  if (kindOf(asset.mime) !== kindOf(file.mime)) {
    await sql`update assets set root_id = null, root_path = null, missing_since = now() where id = ${assetId}`.execute(
      tx,
    );
    return false;
  }
  const next = { hash: file.hash, mime: file.mime, fileName: file.name, note: '' };
  const how = { ladderKeys: keysOf(ladder), happened: { event: 'asset.version.added' } } as const;
  await replaceFile(tx, owner, asset, next, how);
  return true;
}
