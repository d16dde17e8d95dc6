import { sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import type { HttpFacts } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { isOutOfRoom } from '../../platform/storage/room.ts';

/** Returns whether a download begins with this response; false for later parts, HEAD requests and unchanged files. */
export function beginsDownload(
  { header, isHead }: Pick<HttpFacts, 'header' | 'isHead'>,
  status: number,
): boolean {
  if (isHead || status === 304) return false;
  // A redirect leaves the range to the bucket.
  return status === 200 || /^bytes=0-/i.test(header('range') ?? 'bytes=0-');
}

/**
 * Records downloads by a signed-in caller in the history of the files (ASSET-40). On a full disk nothing is recorded, so that
 * files can still be downloaded. Locks assets first, as their purge does.
 */
export async function recordDownloads(
  db: Database,
  caller: Caller,
  assetIds: readonly string[],
): Promise<void> {
  if (caller.kind !== 'user' || assetIds.length === 0) return;
  try {
    await sql`
      with given as materialized (
        select a.id from assets a where a.id = any (${assetIds}::uuid[]) order by a.id for key share of a)
      insert into asset_downloads as d (asset_id, user_ref) select id, ${caller.ref} from given
      on conflict (asset_id, user_ref) do update set download_count = d.download_count + 1, last_downloaded_at = now()`.execute(
      db,
    );
  } catch (error) {
    if (!isOutOfRoom(error)) throw error;
  }
}
