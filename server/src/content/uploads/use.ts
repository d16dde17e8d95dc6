import { randomUUID } from 'node:crypto';
import { link, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { ownUploads } from '../../access/uploads.ts';
import type { Deps } from '../../core/deps.ts';
import { kindOf } from '../../media/sniff.ts';
import type { Columns, Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { baseName, type Received } from '../assets/receive.ts';

interface UploadRow
  extends Columns<
    'uploads',
    'size_bytes' | 'received_bytes' | 'file_hash' | 'mime' | 'extension' | 'asset_id'
  > {
  file_name: string | null;
  used: boolean;
}

async function readUpload(db: Deps['db'], caller: SignedIn, id: string, lock: boolean): Promise<UploadRow> {
  const { rows } = await sql<UploadRow>`
    select up.size_bytes, up.received_bytes, up.metadata ->> 'filename' as file_name, up.file_hash, up.mime, up.extension,
      up.used_at is not null as used, up.asset_id
    from uploads up where up.id = ${id} and ${ownUploads(caller)} ${lock ? sql`for update` : sql``}`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw refuse('upload-not-found');
  return row;
}

/** A finished upload. Its bytes have a path that may be moved into the library. */
interface TakenUpload {
  received: Received;
  fileName: string;
}

export type UploadClaim =
  | { kind: 'taken'; upload: TakenUpload }
  | { kind: 'used'; assetId: string; hash: string | null };

/**
 * Returns the bytes of a finished upload, or the asset that was created from it earlier, so that clients can retry.
 * Throws a 404 for an upload of another account, and a 409 for one that is incomplete or whose asset has been
 * deleted. The caller discards `received`.
 */
export async function takeUpload(deps: Deps, caller: SignedIn, id: string): Promise<UploadClaim> {
  const { db, storage, uploads } = deps;
  let row = await readUpload(db, caller, id, false);
  if (row.used) {
    if (row.asset_id === null) throw refuse('asset-of-upload-deleted');
    return { kind: 'used', assetId: row.asset_id, hash: row.file_hash };
  }
  if (row.file_hash === null && row.size_bytes !== null && row.received_bytes === row.size_bytes) {
    // The server was killed between storing the last byte and completing the upload.
    await uploads.finish(id, row.size_bytes);
    row = await readUpload(db, caller, id, false);
  }
  const { size_bytes: sizeBytes, file_hash: hash, mime, extension } = row;
  if (hash === null || mime === null || sizeBytes === null) {
    throw refuse('upload-not-finished', { received: row.received_bytes, size: sizeBytes ?? 'its' });
  }
  const found = await stat(uploads.pathOf(id)).catch(() => null);
  if (found?.size !== sizeBytes) throw refuse('upload-gone');
  const path = join(storage.incomingDir, randomUUID());
  // Creates a second link, so that the upload still has its bytes if the transaction fails.
  await link(uploads.pathOf(id), path);
  const received = { path, hash, sizeBytes, mime, extension, kind: kindOf(mime) };
  return { kind: 'taken', upload: { received, fileName: baseName(row.file_name ?? '') } };
}

/**
 * Marks an upload as used by an asset, in the transaction that creates the asset. Throws a 409 if another request has
 * used it first.
 */
export async function useUpload(tx: Tx, caller: SignedIn, id: string, assetId: string): Promise<void> {
  const { used } = await readUpload(tx, caller, id, true);
  if (used) throw refuse('upload-used-meanwhile');
  await sql`update uploads set used_at = now(), asset_id = ${assetId} where id = ${id}`.execute(tx);
}

/** Removes the bytes of a used upload. Its row stays until it expires, to answer repeated requests. */
export async function forgetBytes({ uploads }: Pick<Deps, 'uploads'>, id: string): Promise<void> {
  await rm(uploads.pathOf(id), { force: true });
}
