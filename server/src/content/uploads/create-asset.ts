import { AssetFields, createAsset, type ShownAsset } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { ownAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { type FormPart, handleForm } from '../../core/handle.ts';
import { keysOf } from '../../media/ladder.ts';
import { kindOf } from '../../media/sniff.ts';
import { checkQuota } from '../../people/quotas/check.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { checkJson } from '../../platform/http/validate.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { checkFields } from '../assets/edit.ts';
import { setFilm } from '../assets/film.ts';
import { defaultSensitivity, insertAsset, lockFile, stageFile, storeFile } from '../assets/insert.ts';
import { baseName, discard, type Received, receive } from '../assets/receive.ts';
import { findKnownFile, isIntact, repairRenditions } from '../assets/repair.ts';
import { showAsset } from '../assets/show.ts';
import { type Audience, findFilmOf, pointUploads, takeFilm } from '../live-photos/lone-film.ts';
import { findPhotoOf, lockPhoto } from '../live-photos/photo-of.ts';
import { findPlacing, type Placing, placeFile, recordBytes, recordPlaced } from '../root-files/place.ts';
import { findDescribed } from '../sidecars/match.ts';
import { readSidecar } from '../sidecars/read.ts';
import { attachMetadata } from '../sidecars/store.ts';
import { attachSidecar, prepareSidecar } from '../subtitles/sidecars.ts';
import { useUpload, withUpload } from './use.ts';

const checkForm = checkJson(AssetFields, 'form');
const compiled = compileLater(AssetFields);

/** Form fields are text; these are parsed as their schema requires. */
function readField(name: string, text: string): unknown {
  if (name === 'mature') return text === 'true' ? true : text === 'false' ? false : text;
  if (name === 'asset_type') return /^\d{1,15}$/.test(text) ? Number(text) : text;
  if (
    name === 'metadata' ||
    name === 'field_values' ||
    (name === 'tags' && text.trimStart().startsWith('['))
  ) {
    try {
      return JSON.parse(text);
    } catch {
      throw refuse('not-json', { property: name });
    }
  }
  return text;
}

/** `tags` may be repeated or be one JSON array; every other field may occur once. */
function addField(fields: Record<string, unknown>, name: string, text: string): void {
  const value = readField(name, text);
  if (name === 'tags') {
    const before = Array.isArray(fields.tags) ? fields.tags : [];
    fields.tags = Array.isArray(value) ? [...before, ...value] : [...before, value];
  } else if (Object.hasOwn(fields, name)) {
    throw refuse('given-twice', { property: name });
  } else {
    fields[name] = value;
  }
}

interface UploadForm {
  received: Received;
  fileName: string;
  fields: AssetFields;
}

/**
 * Reads an upload form: one part `file`, streamed to disk, and the asset's fields before or after it. Leaves no files
 * behind on an error.
 */
async function readUploadForm(
  parts: AsyncIterable<FormPart>,
  storage: Pick<Storage, 'incomingDir' | 'room'>,
): Promise<UploadForm> {
  const given: Record<string, unknown> = Object.create(null);
  let received: Received | null = null;
  let fileName = 'file';
  try {
    for await (const part of parts) {
      if (part.kind === 'field') {
        addField(given, part.name, part.value);
      } else if (part.file.fieldname !== 'file' || received !== null) {
        part.file.file.resume();
        throw received === null
          ? refuse('file-part-unknown', { part: part.file.fieldname })
          : refuse('files-too-many');
      } else {
        received = await receive(part.file.file, storage);
        fileName = baseName(part.file.filename ?? '');
        if (part.file.file.truncated) throw refuse('file-too-large');
      }
    }
    if (received === null) throw refuse('file-part-missing');
    const fields = checkForm({ ...given });
    if (!compiled().Check(fields)) throw refuse('malformed-form');
    return { received, fileName, fields };
  } catch (error) {
    if (received !== null) await discard(received.path);
    throw error;
  }
}

interface Created {
  id: string;
  /** False when the bytes belong to an asset that was there. */
  isNew: boolean;
}

/** Gives the metadata in a sidecar to the caller's asset that it describes; null when there is none (SIDECAR-1). */
async function describeAsset(
  deps: Deps,
  caller: SignedIn,
  { received, fileName }: UploadForm,
  onCreated: (tx: Tx, assetId: string) => Promise<void>,
): Promise<Created | null> {
  const match = await findDescribed(deps.db, caller.ref, fileName);
  if (match === null) return null;
  const { path, hash } = received;
  const sidecar = await readSidecar(deps, { path, name: fileName, hash, kind: match.kind });
  return deps.db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ hash: string }>`select a.file_hash as hash from assets a
      where a.id = ${match.file.id} and ${ownAssets(caller.ref)} for no key update`.execute(tx);
    const [asset] = rows;
    if (asset === undefined) return null;
    await attachMetadata(tx, { id: match.file.id, hash: asset.hash, ownerRef: caller.ref }, [sidecar]);
    await onCreated(tx, match.file.id);
    return { id: match.file.id, isNew: false };
  });
}

/** Returns where the file goes if it is for a root; null for the library. */
async function placingOf(
  db: Database,
  caller: SignedIn,
  { fileName, fields: { root_id, root_path } }: UploadForm,
): Promise<Placing | null> {
  if (root_id !== undefined) return findPlacing(db, caller, { root_id, root_path: root_path ?? fileName });
  if (root_path !== undefined) throw refuse('root-needs-file');
  return null;
}

/** Creates an asset whose file is written below a root. The file is removed again if the rows cannot be stored. */
async function createInRoot(
  { db, ladder }: Deps,
  caller: SignedIn,
  { received, fields }: UploadForm,
  placing: Placing,
  onCreated: (tx: Tx, assetId: string) => Promise<void>,
): Promise<Created> {
  await db.transaction().execute((tx) => checkFields(tx, caller, fields));
  const removeFile = await placeFile(placing, received);
  try {
    const id = await db.transaction().execute(async (tx) => {
      await checkFields(tx, caller, fields);
      await lockFile(tx, received.hash);
      await recordBytes(tx, received);
      const { hash, mime, kind } = received;
      const made = await insertAsset(tx, {
        ownerRef: caller.ref,
        ladderKeys: keysOf(ladder),
        hash,
        mime,
        kind,
        fileName: baseName(placing.path),
        fields,
        given: { caller, values: fields.field_values ?? [] },
      });
      await recordPlaced(tx, made, placing, received);
      await onCreated(tx, made);
      return made;
    });
    return { id, isNew: true };
  } catch (error) {
    await removeFile();
    throw error;
  }
}

/** Returns the audience that an asset with these properties will have. */
async function audienceFor(tx: Tx, { sensitivity, team_id }: AssetFields): Promise<Audience> {
  const { rows } = await sql<{ sensitivity: string }>`
    select coalesce(${sensitivity ?? null}::text, ${defaultSensitivity}) as sensitivity`.execute(tx);
  return { sensitivity: rows[0]?.sensitivity ?? '', teamId: team_id ?? null };
}

/**
 * Creates an asset from bytes that just arrived. The file, the rows and the job are created together or not at all.
 * Subtitles that match a video of the caller also become a track of that video. A sidecar with metadata of a file of the
 * caller belongs to the asset of that file, and the film of a live photo to that of the photo, which is returned. A photo takes
 * the place of its film that arrived before it.
 */
async function createFromBytes(
  deps: Deps,
  caller: SignedIn,
  form: UploadForm,
  onCreated: (tx: Tx, assetId: string) => Promise<void> = async () => {},
): Promise<Created> {
  const placing = await placingOf(deps.db, caller, form);
  if (placing !== null) return createInRoot(deps, caller, form, placing, onCreated);
  const described = await describeAsset(deps, caller, form, onCreated);
  if (described !== null) return described;
  const { db, storage, ladder } = deps;
  const { received, fileName, fields } = form;
  const sidecar = await prepareSidecar(deps, caller.ref, { ...received, name: fileName });
  const photo = await findPhotoOf(deps, caller.ref, { ...received, fileName });
  const film = await findFilmOf(deps, caller.ref, { ...received, fileName });
  const make = async (tx: Tx): Promise<Created> => {
    await checkFields(tx, caller, fields);
    await storeFile(tx, storage, received);
    if (photo !== null && (await lockPhoto(tx, caller.ref, photo, received.hash))) {
      await setFilm(tx, deps, photo, received);
      await onCreated(tx, photo);
      await checkQuota(tx, caller.ref);
      return { id: photo, isNew: false };
    }
    if (sidecar !== null) await attachSidecar(tx, storage, sidecar);
    const { hash, mime, kind } = received;
    const taken = film === null ? null : await takeFilm(tx, caller.ref, film, await audienceFor(tx, fields));
    const id = await insertAsset(tx, {
      // Clients know the film by this id.
      ...(film === null || taken === null ? {} : { id: film }),
      ownerRef: caller.ref,
      ladderKeys: keysOf(ladder),
      hash,
      mime,
      kind,
      fileName,
      fields,
      given: { caller, values: fields.field_values ?? [] },
    });
    if (taken !== null) {
      await setFilm(tx, deps, id, taken);
      await pointUploads(tx, taken, id);
    }
    await onCreated(tx, id);
    await checkQuota(tx, caller.ref);
    return { id, isNew: taken === null };
  };
  try {
    await stageFile(storage, received);
    return await db.transaction().execute(make);
  } finally {
    if (sidecar !== null) await discard(sidecar.prepared.path);
  }
}

/** Creates an asset from a finished upload, or returns the asset that was created from it earlier. */
async function createFromUpload(
  deps: Deps,
  caller: SignedIn,
  uploadId: string,
  fields: AssetFields,
): Promise<Created> {
  const taken = await withUpload(deps, caller, uploadId, ({ received, fileName }) =>
    createFromBytes(deps, caller, { received, fileName, fields }, (tx, assetId) =>
      useUpload(tx, caller, uploadId, assetId),
    ),
  );
  return taken.kind === 'used' ? { id: taken.assetId, isNew: false } : taken.made;
}

/**
 * Creates an asset from bytes that the caller uploaded earlier (ASSET-15). Throws a 404 for bytes of other accounts.
 */
async function createFromHash(
  { db, storage, ladder }: Deps,
  caller: SignedIn,
  { file_hash, ...fields }: AssetFields & { file_hash: string },
): Promise<string> {
  if (fields.root_id !== undefined || fields.root_path !== undefined) throw refuse('root-needs-file');
  return db.transaction().execute(async (tx) => {
    await checkFields(tx, caller, fields);
    // The bytes may be in the process of being removed.
    await lockFile(tx, file_hash);
    const { rows } = await sql<{ file_name: string }>`
      select a.file_name from assets a where a.owner_user_ref = ${caller.ref} and a.file_hash = ${file_hash}
      union all
      select v.file_name from asset_versions v join assets a on a.id = v.asset_id
      where v.file_hash = ${file_hash} and a.owner_user_ref = ${caller.ref} limit 1`.execute(tx);
    const [known] = rows;
    const file = await findKnownFile(tx, file_hash);
    if (known === undefined || file === null) throw refuse('file-not-uploaded-by-you');
    if (!(await isIntact(storage, file))) throw refuse('stored-file-damaged');
    await repairRenditions(tx, storage, file);
    const id = await insertAsset(tx, {
      ownerRef: caller.ref,
      ladderKeys: keysOf(ladder),
      hash: file_hash,
      mime: file.mime,
      kind: kindOf(file.mime),
      fileName: known.file_name,
      fields,
      given: { caller, values: fields.field_values ?? [] },
    });
    await checkQuota(tx, caller.ref);
    return id;
  });
}

/** Returns the response with the asset of an upload; throws a 409 if it has been deleted since. */
async function answerWith(
  { db, ladder }: Deps,
  caller: SignedIn,
  { id, isNew }: Created,
): Promise<{ status: 200 | 201; body: ShownAsset }> {
  const asset = await showAsset(db, caller, ladder, id);
  if (asset === null || asset.restricted) throw refuse('asset-of-upload-deleted');
  return { status: isNew ? 201 : 200, body: asset };
}

/** `POST /assets`: takes a form with a file, or JSON that names a finished upload or bytes uploaded earlier. */
export const create = handleForm(
  createAsset,
  {
    read: ({ storage }, parts) => readUploadForm(parts, storage),
    discard: ({ received }) => discard(received.path),
  },
  async (deps, { caller, body, form }) => {
    if (form !== null) return answerWith(deps, caller, await createFromBytes(deps, caller, form));
    const { file_hash, upload_id, ...fields } = body;
    if (file_hash !== undefined && upload_id === undefined) {
      const id = await createFromHash(deps, caller, { file_hash, ...fields });
      return answerWith(deps, caller, { id, isNew: true });
    }
    if (upload_id === undefined || file_hash !== undefined) throw refuse('upload-and-hash-exclusive');
    return answerWith(deps, caller, await createFromUpload(deps, caller, upload_id, fields));
  },
);
