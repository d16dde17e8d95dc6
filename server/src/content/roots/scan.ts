import { stat } from 'node:fs/promises';
import { sql } from 'kysely';
import pLimit from 'p-limit';
import { callerOf } from '../../access/caller-of.ts';
import type { Deps } from '../../core/deps.ts';
import type { Database } from '../../platform/database/pool.ts';
import { pathBelow } from '../../platform/files/below.ts';
import { isMissing } from '../../platform/files/directory-tree.ts';
import { compilePattern } from '../path-values/path-patterns.ts';
import { findPathFields, type PathField } from '../path-values/path-values.ts';
import { markMissing } from '../root-files/missing.ts';
import { identityAt } from '../root-files/placed.ts';
import { type RootRow, readRoot } from '../root-files/root.ts';
import {
  emptyCounts,
  examine,
  fail,
  reasonOf,
  type Scan,
  type ScanCounts,
  STATES_AT_ONCE,
} from './examine.ts';
import { storeFilms } from './films.ts';
import { isGone } from './gone.ts';
import { type KnownFile, presentFiles, presentIn } from './known.ts';
import { LeaseLost, takeLease } from './lease.ts';
import { scanReasons } from './reasons.ts';
import { useSidecar } from './sidecars.ts';
import { skipsOf } from './skip.ts';
import { stackExposures } from './stacks.ts';
import { leftUnstacked } from './unstacked.ts';
import { walkRoot } from './walk.ts';

/** `busy`: another process scans the root. `unavailable`: it is not mounted, and nothing was changed (ROOT-8). */
export type ScanOutcome =
  | { state: 'done'; counts: ScanCounts }
  | { state: 'unavailable' | 'failed'; reason: string; counts: ScanCounts }
  | { state: 'busy' };

/** Walks a folder. While one part is stored, the next one is read. */
async function walkFolder(scan: Scan, from: Buffer, deep: boolean): Promise<void> {
  const { root } = scan;
  let storing: Promise<void> = Promise.resolve();
  try {
    for await (const walked of walkRoot(root.path, { skips: skipsOf(root.skip), from, deep })) {
      if (walked.kind === 'unreadable') {
        // A folder that is gone is no failure: its files are missing.
        if (!isMissing(walked.error)) fail(scan, walked.folder, reasonOf(walked.error));
        continue;
      }
      const store = await examine(scan, walked.paths);
      await storing;
      storing = store();
      storing.catch(() => {});
    }
  } finally {
    await storing;
  }
}

/** Marks the files among these that were not found and are gone (ROOT-7). */
async function markGone(scan: Scan, files: readonly KnownFile[]): Promise<void> {
  const { root, deps, seen, devices, lease } = scan;
  const unseen = files.filter(({ id }) => !seen.has(id));
  const limit = pLimit(STATES_AT_ONCE);
  const gone = await limit.map(unseen, async (file) =>
    (await isGone(root.path, file, devices)) ? [file] : [],
  );
  const ids = gone.flat();
  if (ids.length === 0) return;
  await deps.db.transaction().execute(async (tx) => {
    await lease.hold(tx);
    await markMissing(
      tx,
      ids.map(({ id }) => id),
    );
  });
  scan.counts.missing += ids.filter(({ is_sidecar, is_film }) => !is_sidecar && !is_film).length;
}

async function useSidecars(scan: Scan): Promise<void> {
  for (const sidecar of scan.sidecars) {
    try {
      await useSidecar(scan.deps, scan.root, sidecar);
    } catch (error) {
      fail(scan, sidecar.path, reasonOf(error));
    }
  }
}

/** Returns how many files of a root are known and not missing, up to 2. */
async function countPresent(db: Database, rootId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from (
    select from root_files where root_id = ${rootId} and missing_since is null limit 2) f`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Scans the whole root. Returns why it counts as not mounted, or null. */
async function scanWhole(scan: Scan): Promise<string | null> {
  const { root, deps } = scan;
  const identity = await identityAt(root.path);
  if (identity === null) return scanReasons.notMounted;
  await walkFolder(scan, Buffer.alloc(0), true);
  if (scan.counts.files === 0) {
    const present = await countPresent(deps.db, root.id);
    if (present > 1 || (present === 1 && identity !== root.identity)) return scanReasons.empty;
  }
  await sql`update roots set identity = ${identity} where id = ${root.id}`.execute(deps.db);
  await storeFilms(scan);
  await stackExposures(scan);
  await useSidecars(scan);
  for await (const files of presentFiles(deps.db, root.id)) await markGone(scan, files);
  return null;
}

/** Takes the next folder in which something changed; null if none is due. */
async function nextChange(db: Database, rootId: string): Promise<Buffer | null> {
  const { rows } = await sql<{ folder: Buffer }>`
    delete from root_changes where root_id = ${rootId} and folder = (
      select folder from root_changes where root_id = ${rootId} and due_at <= now() order by due_at limit 1)
    returning folder`.execute(db);
  return rows[0]?.folder ?? null;
}

/** Scans the folders in which something changed. Returns why the root counts as not mounted, or null. */
async function scanChanges(scan: Scan): Promise<string | null> {
  const { root, deps } = scan;
  for (;;) {
    const folder = await nextChange(deps.db, root.id);
    if (folder === null) return null;
    const identity = await identityAt(root.path);
    if (identity === null) return scanReasons.notMounted;
    // Another folder is at its path: only a look at all of it tells what is gone.
    if (identity !== root.identity) return scanWhole(scan);
    await walkFolder(scan, folder, false);
    await storeFilms(scan);
    await stackExposures(scan);
    await useSidecars(scan);
    scan.sidecars = [];
    await markGone(scan, await presentIn(deps.db, root.id, folder, await isFolderGone(root, folder)));
  }
}

async function isFolderGone({ path }: RootRow, folder: Buffer): Promise<boolean> {
  if (folder.length === 0) return false;
  return stat(pathBelow(path, folder)).then(
    () => false,
    (error: unknown) => isMissing(error),
  );
}

async function fieldsOf(db: Database, { fields }: RootRow): Promise<PathField[]> {
  const patterns = fields.flatMap(({ field_code, pattern }) => {
    const read = compilePattern(pattern);
    return 'fault' in read ? [] : [{ code: field_code, read }];
  });
  return (await findPathFields(db, patterns)).fields;
}

/** Scans a root, all of it or where something changed. Never writes below it. Repeatable and safe to kill (ROOT-9). */
export async function runScan(
  deps: Deps,
  rootId: string,
  whole: boolean,
  onProgress: (counts: ScanCounts) => Promise<void> = async () => {},
): Promise<ScanOutcome> {
  const counts = emptyCounts();
  const root = await readRoot(deps.db, rootId);
  if (root === null) return { state: 'failed', reason: scanReasons.rootRemoved, counts };
  const owner = root.owner_user_ref === null ? null : await callerOf(deps.db, root.owner_user_ref);
  if (owner === null) return { state: 'failed', reason: scanReasons.ownerInactive, counts };
  const lease = await takeLease(deps.db, rootId);
  if (lease === null) return { state: 'busy' };
  try {
    const fields = await fieldsOf(deps.db, root);
    const scan: Scan = {
      deps,
      root,
      owner,
      lease,
      counts,
      fields,
      seen: new Set(),
      sidecars: [],
      films: [],
      photos: [],
      exposures: await leftUnstacked(deps.db, rootId),
      devices: new Map(),
      whole,
      onProgress,
    };
    const reason = await (whole ? scanWhole(scan) : scanChanges(scan));
    return reason === null ? { state: 'done', counts } : { state: 'unavailable', reason, counts };
  } catch (error) {
    if (error instanceof LeaseLost) return { state: 'busy' };
    throw error;
  } finally {
    await lease.end();
  }
}
