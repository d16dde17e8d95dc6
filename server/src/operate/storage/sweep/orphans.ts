import { sql } from 'kysely';
import { lockFile } from '../../../content/assets/insert.ts';
import type { Deps } from '../../../core/deps.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { hashOfKey, hashOfLogo, idOfExport, objectFolders } from '../../../platform/storage/object-key.ts';
import { mayRemoveFiles } from '../../../platform/storage/removal.ts';
import type { StoredObject } from '../../../platform/storage/storage.ts';
import { removeUnusedLogo } from '../../appearance/logo.ts';

type OrphanDeps = Pick<Deps, 'db' | 'storage'>;

/** Objects compared with the rows in one statement. */
const BATCH = 500;

/** Returns those of these keys that no row refers to; keys that are not ours are left out. */
export async function unreferenced(db: Database, keys: readonly string[]): Promise<Set<string>> {
  const named = keys.flatMap((key) => {
    const hash = hashOfKey(key) ?? hashOfLogo(key) ?? idOfExport(key);
    return hash === null ? [] : [{ key, hash }];
  });
  const { rows } = await sql<{ key: string }>`
    select k.key from unnest(${named.map(({ key }) => key)}::text[], ${named.map(({ hash }) => hash)}::text[])
      k (key, hash)
    where not case split_part(k.key, '/', 1)
      when 'originals' then exists (select from files f where f.hash = k.hash)
      when 'renditions' then exists (select from files f where f.hash = k.hash and exists (
        select from jsonb_each(f.renditions) r where r.value ->> 'object' = k.key))
      when 'subtitles' then exists (select from subtitles s where s.file_hash = k.hash)
      when 'exports' then exists (select from account_exports e where e.id::text = k.hash)
      else exists (select from logos l where l.hash = k.hash) end`.execute(db);
  return new Set(rows.map(({ key }) => key));
}

/** Yields the objects older than `olderThan` that no row refers to. An upload may be about to use one of them. */
export async function* findOrphans(
  { db, storage }: OrphanDeps,
  olderThan: number,
): AsyncIterable<StoredObject> {
  let batch: StoredObject[] = [];
  const orphansOf = async (objects: StoredObject[]) => {
    const orphans = await unreferenced(
      db,
      objects.map(({ key }) => key),
    );
    return objects.filter(({ key }) => orphans.has(key));
  };
  for (const prefix of objectFolders) {
    for await (const object of storage.list(prefix)) {
      if (object.modifiedAt < olderThan) batch.push(object);
      if (batch.length < BATCH) continue;
      yield* await orphansOf(batch);
      batch = [];
    }
  }
  yield* await orphansOf(batch);
}

/**
 * Removes an object if no row refers to it, under the lock of its hash, which excludes uploads that store the same bytes
 * and have not inserted their row. Returns whether it did.
 */
async function removeOrphan({ db, storage }: OrphanDeps, key: string): Promise<boolean> {
  const logo = hashOfLogo(key);
  if (logo !== null) return removeUnusedLogo({ db, storage }, logo);
  const hash = hashOfKey(key);
  if (hash === null && idOfExport(key) === null) return false;
  return db.transaction().execute(async (tx) => {
    // An export has its row before its file.
    if (hash !== null) await lockFile(tx, hash);
    if (!(await mayRemoveFiles(tx)) || !(await unreferenced(tx, [key])).has(key)) return false;
    await storage.delete(key);
    return true;
  });
}

/** Removes objects that no row refers to; calls `onRemoved` for each. Returns how many. */
export async function removeOrphans(
  deps: OrphanDeps,
  olderThan: number,
  onRemoved: (object: StoredObject) => void = () => {},
): Promise<number> {
  let removed = 0;
  for await (const object of findOrphans(deps, olderThan)) {
    if (!(await removeOrphan(deps, object.key))) continue;
    removed += 1;
    onRemoved(object);
  }
  return removed;
}
