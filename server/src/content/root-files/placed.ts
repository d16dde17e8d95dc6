import { lstat, stat } from 'node:fs/promises';
import { sql } from 'kysely';
import { enqueue } from '../../core/job-table.ts';
import type { Database } from '../../platform/database/pool.ts';
import { folderOf, pathBelow } from '../../platform/files/below.ts';
import { isMissing } from '../../platform/files/directory-tree.ts';
import type { PlacedFile, PlacedFiles } from '../../platform/storage/in-place.ts';
import { markMissing } from './missing.ts';

/** How many files with the same bytes are tried. */
const MOST_COPIES = 20;

/** Device and number of a folder, which tell whether another one is at its path (ROOT-8). */
function identityOf({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`;
}

/** Returns the identity of the folder at a path; null if none can be reached. */
export async function identityAt(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() === true ? identityOf(found) : null;
}

/** Returns whether a file is gone while its root is mounted. */
async function isGone(db: Database, { id, root, path }: PlacedFile): Promise<boolean> {
  const row = await db
    .selectFrom('roots as r')
    .innerJoin('root_files as f', 'f.root_id', 'r.id')
    .select('r.identity')
    .where('f.id', '=', id)
    .executeTakeFirst();
  const identity = await identityAt(root);
  if (row === undefined || identity === null || identity !== row.identity) return false;
  return lstat(pathBelow(root, path)).then(
    () => false,
    (error: unknown) => isMissing(error),
  );
}

/** Scans the folder of a file again soon. */
async function scanFolder(db: Database, { id, path }: PlacedFile): Promise<void> {
  const { rows } = await sql<{ root_id: string }>`
    insert into root_changes (root_id, folder) select root_id, ${folderOf(path)}::bytea from root_files where id = ${id}
    on conflict (root_id, folder) do update set due_at = root_changes.due_at
    returning root_id`.execute(db);
  for (const { root_id } of rows)
    await enqueue(db, 'scan-root', { root: root_id, whole: false }, { key: `scan-root-changes:${root_id}` });
}

/** The files below roots by their bytes. One that is found to be gone is marked as missing (ROOT-7). */
export function placedFiles(db: Database): PlacedFiles {
  return {
    async find(hash) {
      const { rows } = await sql<{
        id: number;
        root: string;
        path: Buffer;
        size_bytes: number;
        modified_us: number;
      }>`select f.id, r.path as root, f.path, f.size_bytes, f.modified_us
        from root_files f join roots r on r.id = f.root_id
        where f.hash = ${hash} and not f.is_sidecar order by f.missing_since nulls first, f.id limit ${MOST_COPIES}`.execute(
        db,
      );
      return rows.map(({ id, root, path, size_bytes, modified_us }) => ({
        id,
        root,
        path,
        sizeBytes: size_bytes,
        modifiedUs: modified_us,
      }));
    },
    async lost(file) {
      if (await isGone(db, file)) await db.transaction().execute((tx) => markMissing(tx, [file.id]));
      else await scanFolder(db, file);
    },
  };
}
