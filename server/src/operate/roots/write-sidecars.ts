import { isUtf8 } from 'node:buffer';
import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { sql } from 'kysely';
import { identityAt } from '../../content/root-files/placed.ts';
import { type RootRow, readRoot } from '../../content/root-files/root.ts';
import { type FileState, isSameState, stateOf } from '../../content/root-files/state.ts';
import { takeLease } from '../../content/roots/lease.ts';
import { enqueueScan } from '../../content/roots/request.ts';
import { textOf } from '../../content/roots/walk.ts';
import type { Deps } from '../../core/deps.ts';
import { enqueue, type JobHandler } from '../../core/job-table.ts';
import type { Database } from '../../platform/database/pool.ts';
import { folderOf, isBelow, openBelow, pathBelow } from '../../platform/files/below.ts';
import { isMissing } from '../../platform/files/directory-tree.ts';
import { type AssetRow, readAsset } from '../export/entries/asset-rows.ts';
import { standardNames, xmpOf } from '../export/entries/xmp.ts';
import { mergeXmp } from './merge-xmp.ts';

type WriteDeps = Pick<Deps, 'db'>;

/** A run of the job. */
interface Writing {
  db: Database;
  root: RootRow;
  /** Lists of existing sidecars whose other items stay. */
  added: readonly string[];
}

/** Edited assets read at a time. */
const BATCH = 100;
/** When a job that had to wait for a scan is tried again. */
const AGAIN_AFTER_MS = 10_000;
/** The largest existing sidecar that is merged; the same limit as for reading. */
const MOST_BYTES = 4 * 1024 * 1024;

interface Edit {
  asset_id: string;
  edited_at: string;
  path: Buffer | null;
}

/** The sidecar of an asset has to wait until the library has read its file and the present sidecar. */
class NotReadYet extends Error {}

async function nextEdits(db: Database, rootId: string, after: string): Promise<Edit[]> {
  const { rows } = await sql<Edit>`
    select e.asset_id, e.edited_at::text as edited_at, (select f.path from root_files f
      where f.asset_id = e.asset_id and f.root_id = e.root_id and not f.is_sidecar and not f.is_film and f.missing_since is null
      order by f.id limit 1) as path
    from root_edits e where e.root_id = ${rootId} and e.asset_id > ${after}::uuid
    order by e.asset_id limit ${BATCH}`.execute(db);
  return rows;
}

/** Forgets an edit, unless the asset was edited again meanwhile. */
async function forget(db: Database, { asset_id, edited_at }: Edit): Promise<void> {
  await sql`delete from root_edits where asset_id = ${asset_id} and edited_at = ${edited_at}::timestamptz`.execute(
    db,
  );
}

/** Whether the values of an asset are still read from its file or its sidecars: they would be overwritten. */
async function isBeingRead(db: Database, assetId: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from graphile_worker.jobs where key = ${`extract:${assetId}`}
      and attempts < max_attempts) as found`.execute(db);
  return rows[0]?.found === true;
}

/** Returns which columns of an asset people have edited. */
async function editedColumns(db: Database, id: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ property: string }>`
    select distinct unnest(properties) as property from asset_changes where asset_id = ${id}`.execute(db);
  return new Set(rows.map(({ property }) => property.replace(/^clear_/, '')));
}

/** Returns the properties that people have removed from an asset. Others of a sidecar may be of fields the library lacks. */
async function removedProperties(
  db: Database,
  { id, description, tags, values }: AssetRow,
  edited: ReadonlySet<string>,
): Promise<string[]> {
  const { rows } = await sql<{ source: string }>`
    select coalesce(nullif(d.extraction_source, ''), d.code) as source from fields d, lateral (
      select h.after, h.set_by from field_value_history h where h.subject_id = ${id} and h.field_id = d.id
      order by h.at desc, h.id desc limit 1) last
    where d.subject_kind = 'asset' and last.after is null and last.set_by in ('manual', 'api')`.execute(db);
  const present = new Set(values.map(({ source }) => source));
  const sources = rows.map(({ source }) => source).filter((source) => !present.has(source));
  if (description === '' && edited.has('description')) sources.push('description');
  if (tags.length === 0 && !present.has('keywords') && edited.has('tags')) sources.push('keywords');
  return sources.flatMap(standardNames);
}

/** Returns lists whose other items stay: those of trees, and keywords unless a field has them all. */
async function addedLists(db: Database): Promise<string[]> {
  const { rows } = await sql<{ found: boolean }>`select exists (select from fields
    where subject_kind = 'asset' and status <> 'archived' and extraction_source = 'keywords') as found`.execute(
    db,
  );
  return rows[0]?.found === true ? ['lr:hierarchicalSubject'] : ['lr:hierarchicalSubject', 'dc:subject'];
}

async function mergedWith({ db, added }: Writing, asset: AssetRow, existing: string): Promise<string> {
  const edited = await editedColumns(db, asset.id);
  const removed = await removedProperties(db, asset, edited);
  const kept = ['title', 'description'].filter((column) => !edited.has(column)).map((name) => `dc:${name}`);
  return mergeXmp(existing, xmpOf(asset), { removed, added, kept });
}

/** The sidecar that is at a path now. */
interface Present {
  text: string;
  state: FileState;
}

/** Returns the sidecar at a path; null without one. Throws for one that is a link, too large or no text. */
async function readPresent({ path: folder }: RootRow, path: Buffer): Promise<Present | null> {
  const state = await stateOf(pathBelow(folder, path));
  if (state === null) {
    const found = await lstat(pathBelow(folder, path)).catch(() => null);
    if (found !== null) throw new Error('the path of the sidecar is not a regular file');
    return null;
  }
  if (state.sizeBytes > MOST_BYTES) throw new Error('the sidecar beside it is too large');
  const file = await openBelow(folder, path);
  if (file === null) throw new Error('a link leads out of the folder');
  try {
    const bytes = await file.readFile();
    if (!isUtf8(bytes)) throw new Error('the sidecar beside it is not UTF-8');
    return { text: bytes.toString('utf8').replace(/^\ufeff/, ''), state };
  } finally {
    await file.close();
  }
}

/** Whether the library has read the sidecar as it is: otherwise another program has just changed it. */
async function isKnown(db: Database, { id }: RootRow, path: Buffer, state: FileState): Promise<boolean> {
  const { rows } = await sql<{ size_bytes: number; modified_us: number; device: string }>`
    select size_bytes, modified_us, device from root_files
    where root_id = ${id} and path = ${path} and is_sidecar and missing_since is null`.execute(db);
  const [row] = rows;
  return (
    row !== undefined &&
    isSameState(state, { sizeBytes: row.size_bytes, modifiedUs: row.modified_us, device: row.device })
  );
}

/** Replaces a file atomically and returns its state. Throws if a link leads out of the root. */
async function replaceFile({ path: root }: RootRow, path: Buffer, text: string): Promise<FileState> {
  const folder = pathBelow(root, folderOf(path));
  if (!(await isBelow(root, folder))) throw new Error('a link leads out of the folder');
  // Hidden, so that no scan finds it.
  const partial = pathBelow(folder, Buffer.from(`.vitrine-${randomUUID()}`));
  const file = await open(partial, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
  try {
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    const state = await stateOf(partial);
    if (state === null) throw new Error('the written file is gone');
    await rename(partial, pathBelow(root, path));
    return state;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Records the sidecar as read, so that scans do not take it for a change of another program. */
async function recordWritten(
  db: Database,
  { id }: RootRow,
  path: Buffer,
  { text, state }: { text: string; state: FileState },
): Promise<void> {
  const hash = createHash('sha256').update(text).digest('hex');
  await sql`insert into root_files (root_id, path, is_sidecar, size_bytes, modified_us, device, hash)
    values (${id}, ${path}, true, ${state.sizeBytes}, ${state.modifiedUs}, ${state.device}, ${hash})
    on conflict (root_id, path) do update set is_sidecar = true, size_bytes = excluded.size_bytes,
      modified_us = excluded.modified_us, device = excluded.device, hash = excluded.hash, missing_since = null`.execute(
    db,
  );
}

/** Has the folder of a sidecar scanned, which another program has changed. */
async function scanFolder(db: Database, { id }: RootRow, path: Buffer): Promise<void> {
  await sql`insert into root_changes (root_id, folder) values (${id}, ${folderOf(path)})
    on conflict (root_id, folder) do nothing`.execute(db);
  await enqueueScan(db, id, false);
}

/** Writes the sidecar of an asset beside its file (ROOT-15). Does nothing for a file that is gone. */
async function writeSidecar(writing: Writing, { asset_id, path }: Edit): Promise<void> {
  const { db, root } = writing;
  if (path === null || (await stateOf(pathBelow(root.path, path))) === null) return;
  if (await isBeingRead(db, asset_id)) throw new NotReadYet();
  const asset = await readAsset(db, asset_id);
  if (asset === null) return;
  const target = Buffer.concat([path, Buffer.from('.xmp')]);
  const present = await readPresent(root, target);
  if (present !== null && !(await isKnown(db, root, target, present.state))) {
    await scanFolder(db, root, target);
    throw new NotReadYet();
  }
  const text = present === null ? xmpOf(asset) : await mergedWith(writing, asset, present.text);
  if (text === present?.text) return;
  await recordWritten(db, root, target, { text, state: await replaceFile(root, target, text) });
}

interface Outcome {
  failed: number;
  /** The first failure. */
  first: { path: string; reason: string } | null;
  waits: boolean;
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(?:EACCES|EPERM|EROFS)$/.test(code)) return 'the folder cannot be written to';
  if (isMissing(error)) return 'its folder is gone';
  return error instanceof Error ? error.message : String(error);
}

async function writeAll({ db }: WriteDeps, root: RootRow): Promise<Outcome> {
  const outcome: Outcome = { failed: 0, first: null, waits: false };
  const writing = { db, root, added: await addedLists(db) };
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const edits = await nextEdits(db, root.id, after);
    for (const edit of edits) {
      try {
        await writeSidecar(writing, edit);
        await forget(db, edit);
      } catch (error) {
        if (error instanceof NotReadYet) outcome.waits = true;
        else {
          outcome.failed += 1;
          outcome.first ??= { path: textOf(edit.path ?? Buffer.alloc(0)), reason: reasonOf(error) };
        }
      }
    }
    const last = edits.at(-1);
    if (last === undefined) return outcome;
    after = last.asset_id;
  }
}

/** Tries again soon. Waiting is no failure, so it does not count as an attempt. */
async function tryLater({ db }: WriteDeps, root: string): Promise<void> {
  const runAt = new Date(Date.now() + AGAIN_AFTER_MS).toISOString();
  await enqueue(db, 'write-sidecars', { root }, { key: `write-sidecars:${root}`, runAt });
}

/**
 * Removes the waiting jobs of a root, because each edit enqueues one (ROOT-15). Their edits are committed, so this run
 * writes them.
 */
async function replaceWaiting(db: Database, root: string): Promise<void> {
  await sql`select graphile_worker.remove_job(j.key) from graphile_worker.jobs j
    where j.task_identifier = 'write-sidecars' and j.locked_at is null
      and starts_with(j.key, ${`write-sidecars:${root}`})`.execute(db);
}

/**
 * Writes the sidecars of edited assets below a root, while no scan of it runs. What could not be written fails the job,
 * which is tried again a few times; the edits wait for the next one (ROOT-15).
 */
export function writeSidecarsJob(deps: WriteDeps): JobHandler<'write-sidecars'> {
  return async ({ root: id }) => {
    const root = await readRoot(deps.db, id);
    if (root?.sidecars !== 'write') {
      await sql`delete from root_edits where root_id = ${id}`.execute(deps.db);
      return;
    }
    const identity = await identityAt(root.path);
    if (identity === null || identity !== root.identity)
      throw new Error(`the folder ${root.path} cannot be reached; it may not be mounted`);
    const lease = await takeLease(deps.db, id);
    if (lease === null) return tryLater(deps, id);
    try {
      await replaceWaiting(deps.db, id);
      const { failed, first, waits } = await writeAll(deps, root);
      if (first !== null)
        throw new Error(
          `${failed} sidecars could not be written, such as that of ${first.path}: ${first.reason}`,
        );
      if (waits) await tryLater(deps, id);
    } finally {
      await lease.end();
    }
  };
}
