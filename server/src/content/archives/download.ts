import { Readable } from 'node:stream';
import { getArchive, leftOutName } from '@vitrine/contract/archives';
import { sql } from 'kysely';
import { ownArchives, packedAssets } from '../../access/archives.ts';
import type { SignedIn } from '../../access/caller.ts';
import { callerOf } from '../../access/caller-of.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { isSameForRange } from '../../platform/http/etag.ts';
import { readRange } from '../../platform/http/range.ts';
import { notFound, Refusal, refuse } from '../../platform/http/refuse.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { type ByteRange, DamagedObject, NoSuchObject } from '../../platform/storage/storage.ts';
import { writeZip, type ZipSource } from '../../platform/zip/write.ts';
import { disposition } from '../assets/send.ts';
import { findDownloadable, formOf } from '../downloads/forms.ts';
import { findPreset } from '../downloads/presets.ts';
import { leftOutText, listed, NOT_FOUND } from './left-out.ts';
import { distinctNames, safeName, withExtension } from './names.ts';

/** Rows read at a time. */
const ROWS = 100;
/** For how long they count as checked: a file that was taken away in the meantime is left out. */
const CHECKED_MS = 50;
/** After how long the account's rights are read again. */
const RIGHTS_MS = 1000;
/** Checksums stored at a time. */
const CHECKSUMS = 500;

type ArchiveRow = Columns<'archives', 'id' | 'name' | 'size_bytes' | 'preset'>;

/** A file of the archive with what the account is given of it now; nulls if it is not given. */
interface FileRow {
  position: number;
  asset_id: string;
  name: string | null;
  planned_hash: string | null;
  file_hash: string | null;
  size_bytes: number | null;
  created_at: string | null;
  crc32: number | null;
}

async function findArchive(db: Database, caller: SignedIn, id: string): Promise<ArchiveRow> {
  const { rows } = await sql<ArchiveRow>`
    select z.id, z.name, z.size_bytes, z.preset from archives z where z.id = ${id} and ${ownArchives(caller)}`.execute(
    db,
  );
  const row = rows[0];
  if (row === undefined) throw notFound();
  return row;
}

/** Whether every file is given to the account, with the bytes that were planned: then the length is as planned. */
async function isAsPlanned(db: Database, caller: SignedIn, id: string): Promise<boolean> {
  const { rows } = await sql<{ differs: boolean }>`
    select exists (select from archive_files z where z.archive_id = ${id} and z.name is not null
      and not exists (select from assets a
        where a.id = z.asset_id and a.file_hash = z.file_hash and ${packedAssets(caller)})) as differs`.execute(
    db,
  );
  return rows[0]?.differs === false;
}

async function readRows(db: Database, caller: SignedIn, id: string, after: number): Promise<FileRow[]> {
  const { rows } = await sql<FileRow>`
    select z.position, z.asset_id, z.name, z.file_hash as planned_hash, a.file_hash, f.size_bytes, a.created_at, k.crc32
    from archive_files z
      left join (assets a join files f on f.hash = a.file_hash)
        on a.id = z.asset_id and z.name is not null and ${packedAssets(caller)}
      left join file_checksums k on k.hash = a.file_hash
    where z.archive_id = ${id} and z.position > ${after} order by z.position limit ${ROWS}`.execute(db);
  return rows;
}

/** Keeps checksums of files, a few hundred at a time. */
function checksumsOf(db: Database) {
  let known: { hash: string; crc32: number }[] = [];
  const flush = async () => {
    const rows = known;
    known = [];
    if (rows.length === 0) return;
    await sql`insert into file_checksums (hash, crc32)
      select r.hash, r.crc32 from unnest(${rows.map(({ hash }) => hash)}::text[], ${rows.map(({ crc32 }) => crc32)}::bigint[])
        as r (hash, crc32)
      where exists (select from files f where f.hash = r.hash) on conflict do nothing`.execute(db);
  };
  return {
    add: (hash: string, crc32: number) => known.push({ hash, crc32 }),
    flush,
    flushIfMany: async () => {
      if (known.length >= CHECKSUMS) await flush();
    },
  };
}

/** Opens an original; fetches it from a peer if it is there only. Throws as `storage.get`. */
async function openOriginal({ storage, originals }: Deps, hash: string, sizeBytes: number) {
  const key = originalKey(hash);
  try {
    return { stream: await storage.get(key, sizeBytes), sizeBytes };
  } catch (error) {
    // A size that its peer did not state becomes known with the bytes.
    const isElsewhere = error instanceof NoSuchObject || (error instanceof DamagedObject && sizeBytes === 0);
    const fetched = isElsewhere ? await originals.fetch(hash) : null;
    if (fetched === null) throw error;
    return { stream: await storage.get(key, fetched), sizeBytes: fetched };
  }
}

/** Opens a file in the form of a preset. Throws as `formOf` and `storage.get`. */
async function openForm(deps: Deps, caller: SignedIn, assetId: string, key: string) {
  const preset = await findPreset(deps.db, caller, key);
  const file = await findDownloadable(deps.db, caller, assetId);
  if (file === null) throw notFound();
  const form = await formOf(deps, caller, file, preset);
  const stream = await deps.storage.get(form.object, form.bytes);
  return { stream, sizeBytes: form.bytes, extension: form.extension };
}

/** Why a file cannot be opened, as its line in the list says it; throws what has another cause. */
function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof NoSuchObject || error instanceof DamagedObject) return refuse(error.code).message;
  throw error;
}

interface Packing {
  readonly archive: ArchiveRow;
  readonly caller: SignedIn;
  /** Every file must be as planned, because a part of the archive is sent. */
  readonly isFixed: boolean;
}

/** What was planned has changed while a part was sent: the response is broken off, and a new request starts anew. */
class ArchiveChanged extends Error {}

/** Yields the files of an archive one by one, each checked just before it is sent, and then what was left out. */
async function* filesOf(deps: Deps, { archive, caller: first, isFixed }: Packing): AsyncGenerator<ZipSource> {
  const { db, storage } = deps;
  const checksums = checksumsOf(db);
  const leftOut: string[] = [];
  const leave = ({ asset_id, name }: FileRow, reason: string) => {
    if (isFixed && name !== null) throw new ArchiveChanged('a file of an archive was taken away');
    leftOut.push(listed(asset_id, reason));
  };
  // Other extensions may make names equal.
  const nameOf = distinctNames([leftOutName]);
  let caller = first;
  let rightsAt = performance.now();
  let after = 0;
  for (;;) {
    if (performance.now() - rightsAt > RIGHTS_MS) {
      const current = await callerOf(db, caller.ref);
      if (current === null) throw new ArchiveChanged('the account of an archive may not act any more');
      caller = current;
      rightsAt = performance.now();
    }
    const readAt = performance.now();
    const rows = await readRows(db, caller, archive.id, after);
    for (const row of rows) {
      if (performance.now() - readAt > CHECKED_MS && after >= (rows[0]?.position ?? 0)) break;
      after = row.position;
      const { name, file_hash: hash, size_bytes: size, created_at } = row;
      if (name === null || hash === null || size === null || created_at === null) {
        leave(row, NOT_FOUND);
        continue;
      }
      if (isFixed && hash !== row.planned_hash) throw new ArchiveChanged('a file of an archive was replaced');
      if (archive.preset !== null) {
        const made = await openForm(deps, caller, row.asset_id, archive.preset).catch(reasonOf);
        if (typeof made === 'string') {
          leave(row, made);
          continue;
        }
        try {
          yield {
            name: nameOf(withExtension(name, made.extension)),
            sizeBytes: made.sizeBytes,
            modified: new Date(created_at),
            crc: null,
            open: async () => made.stream,
          };
        } finally {
          made.stream.destroy();
        }
        continue;
      }
      const file = { name, modified: new Date(created_at), read: (crc: number) => checksums.add(hash, crc) };
      if (isFixed && row.crc32 !== null) {
        const open = (range?: ByteRange) => storage.get(originalKey(hash), size, range);
        yield { ...file, sizeBytes: size, crc: row.crc32, open };
        continue;
      }
      // Opened before its header is written: what cannot be opened is left out.
      const opened = await openOriginal(deps, hash, size).catch(reasonOf);
      if (typeof opened === 'string') leave(row, opened);
      else
        try {
          yield { ...file, sizeBytes: opened.sizeBytes, crc: null, open: async () => opened.stream };
        } finally {
          opened.stream.destroy();
        }
      await checksums.flushIfMany();
    }
    if (rows.length < ROWS && after >= (rows.at(-1)?.position ?? after)) break;
  }
  await checksums.flush();
  const text = leftOutText(leftOut);
  if (text !== null) yield text;
}

/**
 * `GET /archives/{id}`. The whole is sent without its length, so that a file that is taken away meanwhile can be left
 * out. A part is sent while the archive is as planned (ARCHIVE-6).
 */
export const download = handle(getArchive, async (deps, { caller, params, http }) => {
  const archive = await findArchive(deps.db, caller, params.id);
  const { size_bytes: size } = archive;
  const etag = `"${archive.id}"`;
  const isPlanned = size !== null && (await isAsPlanned(deps.db, caller, archive.id));
  const headers = {
    'content-type': 'application/zip',
    'content-disposition': disposition('attachment', `${safeName(archive.name) || 'Files'}.zip`),
    'cache-control': 'private, no-cache',
    ...(isPlanned ? { etag, 'accept-ranges': 'bytes' } : {}),
  };
  const asked = isSameForRange(http.header('if-range'), etag) ? http.header('range') : undefined;
  const outcome = isPlanned ? readRange(asked, size) : ({ kind: 'whole' } as const);
  if (outcome.kind === 'outside')
    throw refuse('range-not-satisfiable', {}, { 'content-range': `bytes */${size}` });
  if (outcome.kind === 'whole') {
    const files = filesOf(deps, { archive, caller, isFixed: false });
    return { status: 200, body: Readable.from(writeZip(files), { objectMode: false }), headers };
  }
  const { start, end } = outcome.range;
  const files = filesOf(deps, { archive, caller, isFixed: true });
  const partial = {
    ...headers,
    'content-length': String(end - start + 1),
    'content-range': `bytes ${start}-${end}/${size}`,
  };
  return {
    status: 206,
    body: Readable.from(writeZip(files, outcome.range), { objectMode: false }),
    headers: partial,
  };
});
