import { rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { exportDays } from '@vitrine/contract/account-data';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { callerOf } from '../../access/caller-of.ts';
import { exportedAssets, exportedCollections, exportedPosts } from '../../access/exports.ts';
import type { Deps } from '../../core/deps.ts';
import { enqueue, type JobHandler } from '../../core/job-table.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { type Sentence, sentence, storedForm, WordedError } from '../../platform/language/sentence.ts';
import { exportKey } from '../../platform/storage/object-key.ts';
import { isOutOfRoom, requireRoom } from '../../platform/storage/room.ts';
import { ExportError } from '../export/bag/paths.ts';
import { writeExport } from '../export/library.ts';
import { nameOfBag } from './bag-name.ts';
import { packDirectory } from './pack.ts';
import { removeExports } from './remove-exports.ts';

type ExportDeps = Pick<Deps, 'db' | 'storage'>;

/** Milliseconds between two reports of an export that is written. */
const REPORT_MS = 1000;
/** Without a report for this long, the process that writes an export has ended. */
const SILENT = '1 minute';
/** After how many seconds an export that waits for another one looks again. */
const WAIT_SECONDS = 15;

/** The export cannot be written; the message is for the member. */
class ExportFailed extends WordedError {}
/** The export was replaced, or its account is gone. */
class ExportGone extends Error {}

/**
 * Marks an export as running: one at a time in the library, because each copies all files of an account. Returns the
 * account, or why it does not start.
 */
async function claim(tx: Tx, id: string): Promise<{ user: number; at: string } | 'gone' | 'later'> {
  await takeLock(tx, 'accountExports');
  const { rows } = await sql<{ user_ref: number | null; created_at: string; is_busy: boolean }>`
    select e.user_ref, e.created_at, exists (select from account_exports o where o.id <> e.id and o.state = 'running'
      and o.reported_at > now() - ${SILENT}::interval) as is_busy
    from account_exports e where e.id = ${id} and e.state in ('queued', 'running')`.execute(tx);
  const [row] = rows;
  if (row === undefined || row.user_ref === null) return 'gone';
  if (row.is_busy) return 'later';
  await sql`update account_exports set state = 'running', reported_at = now(), files = 0 where id = ${id}`.execute(
    tx,
  );
  return { user: row.user_ref, at: row.created_at };
}

/** Returns how many bytes the originals of an account have, and about how many files its export will have. */
async function measure(db: Database, caller: SignedIn): Promise<{ bytes: number; files: number }> {
  const extent = { kind: 'person', caller } as const;
  const { rows } = await sql<{ bytes: number; files: number }>`
    select coalesce(sum(o.bytes), 0)::bigint as bytes, count(*) * 2 + (
      select count(*) * 2 from posts p where ${exportedPosts(extent)}) + (
      select count(*) * 2 from collections c where ${exportedCollections(extent)}) as files
    from assets a cross join lateral (select f.size_bytes + coalesce((select sum(vf.size_bytes) from asset_versions v
        join files vf on vf.hash = v.file_hash where v.asset_id = a.id and v.file_hash <> a.file_hash), 0) as bytes
      from files f where f.hash = a.file_hash) o
    where ${exportedAssets(extent)}`.execute(db);
  return rows[0] ?? { bytes: 0, files: 0 };
}

/**
 * Reports how far an export is until it ends. `check` throws once the export is gone or the disk has no more room than
 * the reserve.
 */
function follow({ db, storage }: ExportDeps, id: string, directory: string) {
  let written = { files: 0, lost: 0 };
  let stopped: Error | null = null;
  const report = async () => {
    await requireRoom(storage, 0).catch((error: unknown) => {
      stopped = error instanceof Error ? error : new Error(String(error));
    });
    const { numAffectedRows } =
      await sql`update account_exports set files = ${written.files}, left_out = ${written.lost},
        reported_at = now() where id = ${id} and user_ref is not null and state = 'running'`.execute(db);
    if (numAffectedRows === 0n) stopped = new ExportGone();
    // The sweep removes what was not touched for a day.
    await utimes(directory, new Date(), new Date()).catch(() => {});
  };
  let reporting: Promise<void> | null = null;
  const timer = setInterval(() => {
    reporting ??= report()
      .catch(() => {})
      .finally(() => {
        reporting = null;
      });
  }, REPORT_MS);
  return {
    check(files: number, lost: number) {
      written = { files, lost };
      if (stopped !== null) throw stopped;
    },
    async end() {
      clearInterval(timer);
      await reporting;
    },
  };
}

/** Stores the finished ZIP and its row together. */
async function finish(
  { db, storage }: ExportDeps,
  id: string,
  zip: string,
  counts: { files: number; lost: number },
) {
  const { size } = await stat(zip);
  await storage.stage(zip, exportKey(id));
  await db.transaction().execute(async (tx) => {
    const { numAffectedRows } = await sql`update account_exports set state = 'done', files = ${counts.files},
        total = ${counts.files}, left_out = ${counts.lost}, size_bytes = ${size}, finished_at = now(),
        expires_at = now() + make_interval(days => ${exportDays}::integer)
      where id = ${id} and user_ref is not null and state = 'running'`.execute(tx);
    if (numAffectedRows === 0n) throw new ExportGone();
    await storage.adopt(zip, exportKey(id));
  });
}

/** Writes the bag of an account, packs it and stores it. An earlier attempt is continued. */
async function prepare(
  deps: ExportDeps,
  id: string,
  { user, at }: { user: number; at: string },
): Promise<void> {
  const { db, storage } = deps;
  const caller = await callerOf(db, user);
  if (caller === null) throw new ExportFailed(sentence('the account is not active'));
  const { bytes, files } = await measure(db, caller);
  await requireRoom(storage, bytes);
  await sql`update account_exports set total = ${files} where id = ${id}`.execute(db);
  const directory = join(storage.incomingDir, `export-${id}`);
  const zip = `${directory}.zip`;
  // Packing takes the bag apart: an attempt that was killed meanwhile starts again.
  if ((await stat(zip).catch(() => null)) !== null) await removeFiles(deps, id);
  const { check, end } = follow(deps, id, directory);
  try {
    const { files: written, lost } = await writeExport(db, storage, directory, caller, (state) =>
      check(state.files, state.lost.length),
    );
    check(written, lost.length);
    await packDirectory(directory, nameOfBag(caller, at), zip);
    check(written, lost.length);
    await finish(deps, id, zip, { files: written, lost: lost.length });
  } finally {
    await end();
  }
}

/** Returns the reason for the member; null for an error that another attempt may not meet. */
function whyFailed(error: unknown): Sentence | null {
  if (error instanceof ExportFailed) return error.sentence;
  const cause = error instanceof ExportError ? error.cause : error;
  return isOutOfRoom(error) || isOutOfRoom(cause) ? sentence('the library has not enough room for it') : null;
}

async function fail(db: Database, id: string, reason: Sentence): Promise<void> {
  await sql`update account_exports set state = 'failed', reason = ${storedForm(reason)}, finished_at = now(),
      expires_at = now() + make_interval(days => ${exportDays}::integer)
    where id = ${id} and state <> 'done'`.execute(db);
}

async function removeFiles({ storage }: Pick<Deps, 'storage'>, id: string): Promise<void> {
  const directory = join(storage.incomingDir, `export-${id}`);
  await rm(directory, { recursive: true, force: true });
  await rm(`${directory}.zip`, { force: true });
}

/** Writes the export of an account (EXPORT-17). An attempt that was killed is continued by the next one. */
export function exportAccountJob(deps: ExportDeps): JobHandler<'export-account'> {
  return async ({ export: id }, { lastAttempt }) => {
    const { db } = deps;
    await removeExports(deps);
    const claimed = await db.transaction().execute((tx) => claim(tx, id));
    if (claimed === 'gone') return;
    if (claimed === 'later') {
      const runAt = new Date(Date.now() + WAIT_SECONDS * 1000).toISOString();
      await enqueue(db, 'export-account', { export: id }, { key: `export-account:${id}`, runAt });
      return;
    }
    try {
      await prepare(deps, id, claimed);
      await removeFiles(deps, id);
    } catch (error) {
      if (error instanceof ExportGone) return removeFiles(deps, id);
      const reason = whyFailed(error);
      if (reason === null && !lastAttempt) throw error;
      await removeFiles(deps, id);
      await fail(db, id, reason ?? sentence('it could not be written; ask an administrator'));
      if (reason === null) throw error;
    }
  };
}
