import { randomUUID } from 'node:crypto';
import { link, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { ownUploads } from '../../access/uploads.ts';
import type { Deps } from '../../core/deps.ts';
import { kindOf } from '../../media/sniff.ts';
import type { Columns, Tx } from '../../platform/database/pool.ts';
import { isMissing } from '../../platform/files/directory-tree.ts';
import { Refusal, refuse } from '../../platform/http/refuse.ts';
import { baseName, discard, type Received } from '../assets/receive.ts';

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

/** What was made from an upload earlier. */
export interface UsedUpload {
  kind: 'used';
  assetId: string;
  hash: string | null;
}

/** Returns what an upload was used for; null if it was not used. Throws a 409 if that asset has been deleted. */
function useOf({ used, asset_id: assetId, file_hash: hash }: UploadRow): UsedUpload | null {
  if (!used) return null;
  if (assetId === null) throw refuse('asset-of-upload-deleted');
  return { kind: 'used', assetId, hash };
}

/** Creates a second link to the bytes of an upload, so that it still has them if the transaction fails; null if they are gone. */
async function linkBytes({ storage, uploads }: Deps, id: string, sizeBytes: number): Promise<string | null> {
  const path = join(storage.incomingDir, randomUUID());
  try {
    if ((await stat(uploads.pathOf(id))).size !== sizeBytes) return null;
    await link(uploads.pathOf(id), path);
    return path;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Returns the bytes of a finished upload, or what was made from it earlier. The caller discards `received`. */
async function takeUpload(
  deps: Deps,
  caller: SignedIn,
  id: string,
): Promise<UsedUpload | { kind: 'taken'; upload: TakenUpload }> {
  const { db, uploads } = deps;
  let row = await readUpload(db, caller, id, false);
  const earlier = useOf(row);
  if (earlier !== null) return earlier;
  if (row.file_hash === null && row.size_bytes !== null && row.received_bytes === row.size_bytes) {
    // The server was killed between storing the last byte and completing the upload.
    await uploads.finish(id, row.size_bytes);
    row = await readUpload(db, caller, id, false);
  }
  const { size_bytes: sizeBytes, file_hash: hash, mime, extension } = row;
  if (hash === null || mime === null || sizeBytes === null) {
    throw refuse('upload-not-finished', { received: row.received_bytes, size: sizeBytes ?? 'its' });
  }
  const path = await linkBytes(deps, id, sizeBytes);
  if (path === null) {
    // Another request may have used it since it was read.
    const meanwhile = useOf(await readUpload(db, caller, id, false));
    if (meanwhile === null) throw refuse('upload-gone');
    return meanwhile;
  }
  const received = { path, hash, sizeBytes, mime, extension, kind: kindOf(mime) };
  return { kind: 'taken', upload: { received, fileName: baseName(row.file_name ?? '') } };
}

/**
 * Calls `make` with the bytes of a finished upload, or returns what was made from it earlier or by another request at the
 * same time, so that clients can repeat requests (UPLOAD-5). `make` calls `useUpload`. Throws a 404 for an upload of
 * another account, and a 409 for one that is incomplete or whose asset has been deleted.
 */
export async function withUpload<T>(
  deps: Deps,
  caller: SignedIn,
  id: string,
  make: (upload: TakenUpload) => Promise<T>,
): Promise<UsedUpload | { kind: 'made'; made: T }> {
  const taking = await takeUpload(deps, caller, id);
  if (taking.kind === 'used') return taking;
  try {
    const made = await make(taking.upload);
    // Its row stays until it expires, to answer repeated requests.
    await rm(deps.uploads.pathOf(id), { force: true });
    return { kind: 'made', made };
  } catch (error) {
    // Another request may have used the upload and caused the refusal, for example with a version of the same bytes.
    if (!(error instanceof Refusal)) throw error;
    const meanwhile = useOf(await readUpload(deps.db, caller, id, false));
    if (meanwhile === null) throw error;
    return meanwhile;
  } finally {
    await discard(taking.upload.received.path);
  }
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
