import {
  type AccountExport,
  downloadAccountExport,
  getAccountExport,
  startAccountExport,
} from '@vitrine/contract/account-data';
import type { Language } from '@vitrine/contract/languages';
import { basePath } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { ownExport } from '../../access/account-data.ts';
import type { SignedIn } from '../../access/caller.ts';
import { disposition, notFoundIfRemoved, send } from '../../content/assets/send.ts';
import { handle } from '../../core/handle.ts';
import { enqueue } from '../../core/job-table.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Columns, Database, Tx } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { sayStored } from '../../platform/language/sentence.ts';
import { exportKey } from '../../platform/storage/object-key.ts';
import { nameOfBag } from './bag-name.ts';

interface ExportRow
  extends Columns<
    'account_exports',
    'id' | 'files' | 'left_out' | 'size_bytes' | 'reason' | 'created_at' | 'expires_at'
  > {
  state: AccountExport['state'];
}

async function findExport(db: Database, caller: SignedIn): Promise<ExportRow | null> {
  const { rows } = await sql<ExportRow>`
    select e.id, e.state, e.files, e.left_out, e.size_bytes, e.reason, e.created_at, e.expires_at
    from account_exports e where ${ownExport(caller)}`.execute(db);
  return rows[0] ?? null;
}

function shown(row: ExportRow, language: Language): AccountExport {
  const { id, state, files, left_out, created_at, reason, size_bytes, expires_at } = row;
  const isReady = state === 'done' && size_bytes !== null && expires_at !== null;
  return {
    job_id: id,
    state,
    files,
    left_out,
    created_at,
    ...(reason === null ? {} : { reason: sayStored(language, reason) }),
    ...(isReady ? { url: `${basePath}/account/export/${id}`, bytes: size_bytes, expires_at } : {}),
  };
}

/** Replaces the finished export of the account, whose file a job removes (EXPORT-18). */
async function createExport(tx: Tx, caller: SignedIn): Promise<string> {
  await sql`update account_exports set user_ref = null where user_ref = ${caller.ref}`.execute(tx);
  const { id } = await tx
    .insertInto('account_exports')
    .values({ user_ref: caller.ref })
    .returning('id')
    .executeTakeFirstOrThrow();
  await enqueue(tx, 'export-account', { export: id }, { key: `export-account:${id}` });
  await recordEvent(tx, caller, { event: 'account.export.requested', subjectUserRef: caller.ref });
  return id;
}

/** `POST /account/export`: one at a time for each account (EXPORT-17). */
export const start = handle(startAccountExport, async ({ db }, { caller }) => {
  const id = await db.transaction().execute(async (tx) => {
    // Concurrent requests start one export.
    await sql`select from users where ref = ${caller.ref} for no key update`.execute(tx);
    const known = await findExport(tx, caller);
    const isPrepared = known !== null && (known.state === 'queued' || known.state === 'running');
    return isPrepared ? known.id : createExport(tx, caller);
  });
  return { status: 202, body: { job_id: id } };
});

/** `GET /account/export`. */
export const show = handle(getAccountExport, async ({ db }, { caller, http }) => {
  const row = await findExport(db, caller);
  if (row === null) throw notFound();
  const isPrepared = row.state === 'queued' || row.state === 'running';
  return { status: isPrepared ? 202 : 200, body: shown(row, readerLanguage(caller, http)) };
});

/** `GET /account/export/{id}` (EXPORT-18). */
export const download = handle(downloadAccountExport, async (deps, { caller, params, http }) => {
  const find = async () => {
    const row = await findExport(deps.db, caller);
    return row?.id === params.id && row.state === 'done' ? row : null;
  };
  const row = await find();
  if (row === null) throw notFound();
  const sent = send(deps, http, {
    object: exportKey(row.id),
    type: 'application/zip',
    sizeBytes: row.size_bytes ?? 0,
    etag: `"${row.id}"`,
    immutable: false,
    headers: { 'content-disposition': disposition('attachment', `${nameOfBag(caller, row.created_at)}.zip`) },
  });
  return notFoundIfRemoved(sent, find);
});
