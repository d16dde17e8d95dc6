import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { sweepLogos } from '../appearance/logo.ts';
import { lockFile } from '../assets/insert.ts';
import type { Deps } from '../deps.ts';
import type { JobHandler } from '../job-table.ts';
import { hashOfKey } from '../platform/storage/object-key.ts';
import { mayRemoveFiles } from '../platform/storage/removal.ts';
import { sweepUploads } from './uploads.ts';

type SweepDeps = Pick<Deps, 'db' | 'storage'>;

/** Younger files may belong to an upload or a rendering in progress. */
const SWEEP_AFTER_MS = 24 * 3600 * 1000;

/** Incomplete incoming files. */
async function sweepIncoming(incomingDir: string, olderThan: number): Promise<number> {
  let removed = 0;
  for (const name of await readdir(incomingDir)) {
    const path = join(incomingDir, name);
    const found = await stat(path).catch(() => null);
    if (found === null || found.mtimeMs >= olderThan) continue;
    await rm(path, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

/**
 * Returns whether any row refers to this object. The caller holds the lock of the hash, so that no upload is between
 * storing its file and inserting its row.
 */
async function isReferenced(db: SweepDeps['db'], hash: string, key: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from files f where f.hash = ${hash} and (
      starts_with(${key}, 'originals/') or exists (
        select from jsonb_each(f.renditions) r where r.value ->> 'object' = ${key})))
      or (starts_with(${key}, 'subtitles/') and exists (
        select from subtitles s where s.file_hash = ${hash})) as found`.execute(db);
  return rows[0]?.found === true;
}

async function sweepObjects({ db, storage }: SweepDeps, olderThan: number): Promise<number> {
  let removed = 0;
  for (const prefix of ['originals', 'renditions', 'subtitles']) {
    for await (const object of storage.list(prefix)) {
      const hash = hashOfKey(object.key);
      if (hash === null || object.modifiedAt >= olderThan) continue;
      await db.transaction().execute(async (tx) => {
        await lockFile(tx, hash);
        if (!(await mayRemoveFiles(tx)) || (await isReferenced(tx, hash, object.key))) return;
        await storage.delete(object.key);
        removed += 1;
      });
    }
  }
  return removed;
}

/** Removes files that a crash or a broken connection left behind and that no row refers to. Returns their number. */
export async function sweep(deps: SweepDeps, now: number, afterMs = SWEEP_AFTER_MS): Promise<number> {
  const olderThan = now - afterMs;
  return (
    (await sweepIncoming(deps.storage.incomingDir, olderThan)) +
    (await sweepUploads(deps, olderThan)) +
    (await sweepObjects(deps, olderThan)) +
    (await deps.storage.removeUnfinished(olderThan)) +
    (await sweepLogos(deps, olderThan))
  );
}

export function sweepJob(deps: SweepDeps): JobHandler<'sweep'> {
  return async (_, { log }) => {
    const removed = await sweep(deps, Date.now());
    if (removed > 0) log.info({ removed }, 'swept away what nothing refers to');
  };
}
