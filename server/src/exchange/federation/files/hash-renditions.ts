import { sql } from 'kysely';
import pLimit from 'p-limit';
import { lockFile } from '../../../content/assets/insert.ts';
import { hashOfObject } from '../../../content/assets/repair.ts';
import type { Deps } from '../../../core/deps.ts';
import { isStorageOutage } from '../../../platform/storage/room.ts';
import type { OutboxRow } from '../outbox-row.ts';

type HashingDeps = Pick<Deps, 'db' | 'storage'>;

interface Rendition {
  object: string;
  bytes: number;
  sha256?: string;
}

/** How many renditions of a file are read concurrently. */
const READ_AT_ONCE = 4;
/** How often a file may be written while its renditions are hashed before the attempt is given up. */
const MOST_ATTEMPTS = 5;

/** Returns the SHA-256 of a rendition; null if it is missing or damaged, and must not hold up other changes. */
async function hashOfRendition(
  { storage }: HashingDeps,
  { object, bytes }: Rendition,
): Promise<string | null> {
  try {
    return await hashOfObject(storage, object, bytes);
  } catch (error) {
    if (isStorageOutage(error)) throw error;
    return null;
  }
}

/** Returns the hashes of the renditions that have none yet, by their keys. */
async function missingHashes(
  deps: HashingDeps,
  renditions: Record<string, Rendition>,
  onProgress: () => Promise<void>,
): Promise<Record<string, string>> {
  const limit = pLimit(READ_AT_ONCE);
  const unnamed = Object.entries(renditions).filter(([, { sha256 }]) => sha256 === undefined);
  const hashed = await limit.map(unnamed, async ([key, rendition]) => {
    await onProgress();
    return [key, await hashOfRendition(deps, rendition)] as const;
  });
  return Object.fromEntries(hashed.flatMap(([key, hash]) => (hash === null ? [] : [[key, hash]])));
}

/**
 * Records the hashes of the renditions of a file. Stores nothing when the row was written meanwhile, because a rendition
 * that is made again may have the name and size of the earlier one.
 */
async function hashRenditions(
  deps: HashingDeps,
  hash: string,
  onProgress: () => Promise<void>,
): Promise<void> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const { rows } = await sql<{ version: string; renditions: Record<string, Rendition> }>`
      select xmin::text as version, renditions from files where hash = ${hash}`.execute(deps.db);
    const [file] = rows;
    if (file === undefined) return;
    const hashes = await missingHashes(deps, file.renditions, onProgress);
    if (Object.keys(hashes).length === 0) return;
    const stored = await deps.db.transaction().execute(async (tx) => {
      await lockFile(tx, hash);
      const { numAffectedRows } = await sql`update files f set renditions = (
          select jsonb_object_agg(r.key, r.value || jsonb_strip_nulls(jsonb_build_object('sha256', coalesce(
            ${JSON.stringify(hashes)}::jsonb -> r.key, r.value -> 'sha256')))) from jsonb_each(f.renditions) r)
        where f.hash = ${hash} and f.xmin::text = ${file.version}`.execute(tx);
      return numAffectedRows !== 0n;
    });
    if (stored) return;
  }
  throw new Error(`the renditions of ${hash} change while they are hashed`);
}

/** Hashes the renditions of the files that a change brings, unless they have been hashed before (FED-96). */
export async function hashRenditionsOf(
  deps: HashingDeps,
  { activity, kind, object_id: id }: Pick<OutboxRow, 'activity' | 'kind' | 'object_id'>,
  onProgress: () => Promise<void> = async () => {},
): Promise<void> {
  if ((activity !== 'create' && activity !== 'update') || (kind !== 'post' && kind !== 'asset')) return;
  const wanted =
    kind === 'asset'
      ? sql`a.id = ${id}`
      : sql`a.id in (select m.asset_id from post_members m where m.post_id = ${id})`;
  const { rows } = await sql<{
    hash: string;
  }>`select distinct f.hash from assets a join files f on f.hash = a.file_hash
    where ${wanted} and f.origin_peer_id is null and exists (select from jsonb_each(f.renditions) r
      where not r.value ? 'sha256') order by 1`.execute(deps.db);
  for (const { hash } of rows) await hashRenditions(deps, hash, onProgress);
}
