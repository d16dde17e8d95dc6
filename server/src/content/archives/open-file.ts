import { leftOutName } from '@vitrine/contract/archives';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import type { Columns } from '../../platform/database/pool.ts';
import { notFound, Refusal, refuse } from '../../platform/http/refuse.ts';
import type { Buffers } from '../../platform/storage/buffers.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { type ByteRange, DamagedObject, NoSuchObject } from '../../platform/storage/storage.ts';
import type { ZipSource } from '../../platform/zip/write.ts';
import { divideName, nameWith } from '../assets/file-name.ts';
import { withOriginal } from '../assets/from-peer.ts';
import { type Form, findDownloadable, formOf } from '../downloads/forms.ts';
import { findPreset } from '../downloads/presets.ts';
import { distinctNames } from './names.ts';

export type ArchiveRow = Columns<'archives', 'id' | 'name' | 'size_bytes' | 'preset'>;

/** A file of the archive with what the account is given of it now; nulls if it is not given. */
export interface FileRow {
  position: number;
  asset_id: string;
  name: string | null;
  planned_hash: string | null;
  file_hash: string | null;
  size_bytes: number | null;
  created_at: string | null;
  crc32: number | null;
}

/** The packing of an archive for an account. */
export interface Packing {
  readonly archive: ArchiveRow;
  readonly caller: SignedIn;
  /** Every file must be as planned, because a part of the archive is sent. */
  readonly isFixed: boolean;
  /** The response begins with the first byte. Later parts continue a download that is recorded. */
  readonly isFirst: boolean;
}

/** A file that the account is given now. */
interface GivenRow extends FileRow {
  name: string;
  file_hash: string;
  size_bytes: number;
  created_at: string;
}

export function isGiven(row: FileRow): row is GivenRow {
  const { name, file_hash, size_bytes, created_at } = row;
  return name !== null && file_hash !== null && size_bytes !== null && created_at !== null;
}

/** A file that is ready to be packed. */
export interface Opened {
  readonly source: ZipSource;
  close(): void;
}

/** Opens an original; fetches it from a peer if it is there only. Throws as `storage.get`. */
async function openOriginal({ storage, originals }: Deps, buffers: Buffers, hash: string, sizeBytes: number) {
  return withOriginal({ originals }, { hash, sizeBytes }, async (size) => ({
    stream: await storage.get(originalKey(hash), size, undefined, buffers),
    sizeBytes: size,
  }));
}

/** Finds or makes the form of a file in a preset, and calls `use` with it. Throws as `formOf` and `use`. */
export async function withForm<T>(
  deps: Deps,
  { caller, assetId, preset: key }: { caller: SignedIn; assetId: string; preset: string },
  use: (form: Form) => Promise<T>,
): Promise<T> {
  const preset = await findPreset(deps.db, caller, key);
  const file = await findDownloadable(deps.db, caller, assetId);
  if (file === null) throw notFound();
  const original = { hash: file.file_hash, sizeBytes: file.size_bytes };
  return withOriginal(deps, original, async (sizeBytes) =>
    use(await formOf(deps, caller, { ...file, size_bytes: sizeBytes }, preset)),
  );
}

/** Opens a file in the form of a preset. Throws as `formOf` and `storage.get`. */
async function openForm(deps: Deps, buffers: Buffers, caller: SignedIn, assetId: string, preset: string) {
  return withForm(deps, { caller, assetId, preset }, async ({ object, bytes, extension }) => ({
    stream: await deps.storage.get(object, bytes, undefined, buffers),
    sizeBytes: bytes,
    extension,
  }));
}

/** Why a file cannot be opened, as its line in the list says it; throws what has another cause. */
function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof NoSuchObject || error instanceof DamagedObject) return refuse(error.code).message;
  throw error;
}

/** Returns a function that opens a file for the archive, before its header is written, or returns why it cannot. */
export function openerFor(
  deps: Deps,
  { archive, isFixed }: Packing,
  buffers: Buffers,
  keep: (hash: string, crc32: number) => void,
) {
  // Other extensions may make names equal.
  const nameOf = distinctNames([leftOutName]);
  return async (caller: SignedIn, row: GivenRow): Promise<Opened | string> => {
    const { name, file_hash: hash, size_bytes: sizeBytes, crc32 } = row;
    const modified = new Date(row.created_at);
    if (archive.preset !== null) {
      const form = await openForm(deps, buffers, caller, row.asset_id, archive.preset).catch(reasonOf);
      if (typeof form === 'string') return form;
      const named = nameOf(nameWith(divideName(name).stem, form.extension));
      const source = {
        name: named,
        sizeBytes: form.sizeBytes,
        modified,
        crc: null,
        open: async () => form.stream,
      };
      return { source, close: () => form.stream.destroy() };
    }
    const file = { name, modified, read: (crc: number) => keep(hash, crc) };
    if (isFixed && crc32 !== null) {
      const open = (range?: ByteRange) => deps.storage.get(originalKey(hash), sizeBytes, range, buffers);
      return { source: { ...file, sizeBytes, crc: crc32, open }, close: () => {} };
    }
    const original = await openOriginal(deps, buffers, hash, sizeBytes).catch(reasonOf);
    if (typeof original === 'string') return original;
    const source = {
      ...file,
      sizeBytes: original.sizeBytes,
      crc: null,
      open: async () => original.stream,
    };
    return { source, close: () => original.stream.destroy() };
  };
}
