import { type AssetVersion, addAssetVersion, VersionFields } from '@vitrine/contract/versions';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { type FormPart, handleForm } from '../../core/handle.ts';
import { keysOf } from '../../media/ladder.ts';
import { checkQuota } from '../../people/quotas/check.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { checkJson } from '../../platform/http/validate.ts';
import { stageFile, storeFile } from '../assets/insert.ts';
import { baseName, discard, type Received, receive } from '../assets/receive.ts';
import { useUpload, withUpload } from '../uploads/use.ts';
import { checkReplaces, lockVersioned, replaceFile } from './replace.ts';
import { readVersion } from './show.ts';

/** A received file and what is said about it. */
interface Given {
  received: Received;
  fileName: string;
  note: string;
}

const checkFields = checkJson(VersionFields, 'form');

/** Reads the form: a part `file`, streamed to disk, and the field `note`. Leaves nothing behind on an error. */
async function readForm({ storage }: Deps, parts: AsyncIterable<FormPart>): Promise<Given> {
  let received: Received | null = null;
  let fileName = 'file';
  let note: string | null = null;
  try {
    for await (const part of parts) {
      if (part.kind === 'field') {
        if (part.name === 'note' && note !== null) throw refuse('given-twice', { property: 'note' });
        checkFields({ [part.name]: part.value });
        note = part.value;
      } else if (part.file.fieldname !== 'file' || received !== null) {
        part.file.file.resume();
        throw refuse('file-part-strict');
      } else {
        received = await receive(part.file.file, storage);
        fileName = baseName(part.file.filename ?? '');
        if (part.file.file.truncated) throw refuse('file-too-large');
      }
    }
    if (received === null) throw refuse('file-part-missing');
    return { received, fileName, note: note ?? '' };
  } catch (error) {
    if (received !== null) await discard(received.path);
    throw error;
  }
}

/** Stores received bytes as the next version of an asset: the file, the rows and the jobs together or not at all. */
async function addVersion(
  { db, storage, ladder }: Deps,
  caller: SignedIn,
  id: string,
  { received, fileName, note }: Given,
  onAdded: (tx: Tx) => Promise<void> = async () => {},
): Promise<number> {
  // Refuses most requests before anything is stored.
  await db.transaction().execute(async (tx) => checkReplaces(await lockVersioned(tx, caller, id), received));
  await stageFile(storage, received);
  return db.transaction().execute(async (tx) => {
    // A render job, too, locks the bytes first and the asset second.
    await storeFile(tx, storage, received);
    const asset = await lockVersioned(tx, caller, id);
    const { hash, mime } = received;
    const next = { hash, mime, fileName, note: note.trim() };
    const how = { ladderKeys: keysOf(ladder), happened: { event: 'asset.version.added' } } as const;
    const number = await replaceFile(tx, caller, asset, next, how);
    await onAdded(tx);
    const { owner } = asset;
    // Versions count towards the quota of the asset's owner, also when someone else adds them.
    if (owner !== null)
      await checkQuota(tx, owner, owner === caller.ref ? 'quota-exceeded' : 'owner-quota-exceeded');
    return number;
  });
}

/** Returns the number of the version that was made from these bytes; a 409 if the upload was used for something else. */
async function numberOfUsed({ db }: Deps, id: string, used: { assetId: string; hash: string | null }) {
  const { rows } = await sql<{ number: number }>`
    select number from asset_versions where asset_id = ${id} and file_hash = ${used.hash} and number > 1
    order by number desc limit 1`.execute(db);
  const [row] = rows;
  if (used.assetId !== id || row === undefined) throw refuse('upload-used-meanwhile');
  return row.number;
}

/** Adds a finished upload as a version, or returns the version that was made from it earlier. */
async function addUpload(
  deps: Deps,
  caller: SignedIn,
  id: string,
  { upload_id, note }: { upload_id: string; note?: string | null },
): Promise<{ number: number; isNew: boolean }> {
  const taken = await withUpload(deps, caller, upload_id, ({ received, fileName }) =>
    addVersion(deps, caller, id, { received, fileName, note: note ?? '' }, (tx) =>
      useUpload(tx, caller, upload_id, id),
    ),
  );
  if (taken.kind === 'used') return { number: await numberOfUsed(deps, id, taken), isNew: false };
  return { number: taken.made, isNew: true };
}

async function shown({ db }: Deps, caller: SignedIn, id: string, number: number): Promise<AssetVersion> {
  const version = await readVersion(db, caller, id, number);
  // Rights may end, and other requests may delete it, at any time.
  if (version === null) throw notFound();
  return version;
}

/** `POST /assets/{id}/versions`: takes a form with a file, or JSON that names a finished upload. */
export const add = handleForm(
  addAssetVersion,
  { read: readForm, discard: ({ received }) => discard(received.path) },
  async (deps, { caller, params, body, form }) => {
    if (form !== null) {
      const number = await addVersion(deps, caller, params.id, form);
      return { status: 201, body: await shown(deps, caller, params.id, number) };
    }
    // Before the upload is looked up: for other callers there are no versions.
    await deps.db.transaction().execute((tx) => lockVersioned(tx, caller, params.id));
    const { number, isNew } = await addUpload(deps, caller, params.id, body);
    const version = await shown(deps, caller, params.id, number);
    return isNew ? { status: 201, body: version } : { status: 200, body: version };
  },
);
