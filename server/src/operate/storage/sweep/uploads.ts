import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { discard } from '../../../content/assets/receive.ts';
import type { Deps } from '../../../core/deps.ts';

/** Removes expired uploads and files without an upload. Returns the total number removed. */
export async function sweepUploads(
  { db, storage }: Pick<Deps, 'db' | 'storage'>,
  olderThan: number,
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('uploads')
    .where('expires_at', '<=', sql<string>`now()`)
    .executeTakeFirst();
  const names = await readdir(storage.uploadsDir);
  const { rows } = await sql<{ id: string }>`
    select id::text from uploads where id::text = any(${names}::text[]) and used_at is null`.execute(db);
  const wanted = new Set(rows.map(({ id }) => id));
  let removed = Number(numDeletedRows ?? 0n);
  for (const name of names) {
    if (wanted.has(name)) continue;
    const path = join(storage.uploadsDir, name);
    // The row of a new file may not have been inserted yet.
    const found = await stat(path).catch(() => null);
    if (found === null || found.mtimeMs >= olderThan) continue;
    await discard(path);
    removed += 1;
  }
  return removed;
}
