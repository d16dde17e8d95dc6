import { availableParallelism } from 'node:os';
import { getArchive } from '@vitrine/contract/archives';
import { sql } from 'kysely';
import { ownArchives, packedAssets } from '../../access/archives.ts';
import type { SignedIn } from '../../access/caller.ts';
import { callerOf } from '../../access/caller-of.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { isSameForRange } from '../../platform/http/etag.ts';
import { readRange } from '../../platform/http/range.ts';
import { recyclingBody } from '../../platform/http/recycling-body.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import type { Buffers } from '../../platform/storage/buffers.ts';
import type { ByteRange } from '../../platform/storage/storage.ts';
import { writeZip, type ZipSource } from '../../platform/zip/write.ts';
import { disposition } from '../assets/send.ts';
import { recordDownloads } from '../downloads/record.ts';
import { convertAhead } from './convert-ahead.ts';
import { leftOutText, listed, NOT_FOUND } from './left-out.ts';
import { safeName } from './names.ts';
import { type ArchiveRow, type FileRow, isGiven, openerFor, type Packing, withForm } from './open-file.ts';
import { reportProgress } from './progress.ts';

/** Rows read at a time. */
const ROWS = 100;
/** For how long they count as checked: a file that was taken away in the meantime is left out. */
const CHECKED_MS = 50;
/** After how long the account's rights are read again. */
const RIGHTS_MS = 1000;
/** Checksums and downloads stored at a time. */
const STORED = 500;

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

async function exists(db: Database, id: string): Promise<boolean> {
  return (await db.selectFrom('archives').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
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
    add: (hash: string, crc32: number) => {
      known.push({ hash, crc32 });
    },
    flush,
    flushIfMany: async () => {
      if (known.length >= STORED) await flush();
    },
  };
}

/** What was planned has changed while a part was sent: the response is broken off, and a new request starts anew. */
class ArchiveChanged extends Error {}

/** Returns a function that returns the account with its present rights. Throws once it may not act any more. */
function presentRights(db: Database, first: SignedIn): () => Promise<SignedIn> {
  let caller = first;
  let readAt = performance.now();
  return async () => {
    if (performance.now() - readAt <= RIGHTS_MS) return caller;
    const current = await callerOf(db, caller.ref);
    if (current === null) throw new ArchiveChanged('the account of an archive may not act any more');
    caller = current;
    readAt = performance.now();
    return caller;
  };
}

/**
 * Yields the files of an archive with what the account is given of them, each checked just before. `onRead` is called with
 * those that come next.
 */
async function* rowsOf(
  db: Database,
  { archive, caller: first }: Packing,
  onRead: (rows: readonly FileRow[], caller: SignedIn) => void,
) {
  const presentCaller = presentRights(db, first);
  let after = 0;
  for (;;) {
    const caller = await presentCaller();
    const readAt = performance.now();
    const rows = await readRows(db, caller, archive.id, after);
    onRead(rows, caller);
    for (const [at, row] of rows.entries()) {
      // At least one, so that a slow client advances.
      if (at > 0 && performance.now() - readAt > CHECKED_MS) break;
      after = row.position;
      yield { caller, row };
    }
    if (rows.length < ROWS && after >= (rows.at(-1)?.position ?? after)) break;
  }
  // Its list is gone with it.
  if (!(await exists(db, archive.id)))
    throw new ArchiveChanged('an archive was cancelled while it was packed');
}

/** Makes the forms of the files that come next, if the archive has a preset. */
function formsAhead(deps: Deps, { preset }: ArchiveRow) {
  let reader: SignedIn | null = null;
  const ahead = convertAhead(async (assetId) => {
    if (preset !== null && reader !== null)
      await withForm(deps, { caller: reader, assetId, preset }, async () => {});
  }, availableParallelism());
  return {
    ...ahead,
    read(rows: readonly FileRow[], caller: SignedIn) {
      reader = caller;
      if (preset !== null) ahead.next(rows.filter(isGiven).map(({ asset_id }) => asset_id));
    },
  };
}

/** Counts the files that are ready and those that are left out, without those that were left out from the start. */
function counting(ahead: ReturnType<typeof formsAhead>) {
  let packed = 0;
  let made = 0;
  let leftOut = 0;
  return {
    add({ name }: FileRow, isPacked: boolean) {
      if (name === null) return;
      packed += 1;
      if (!isPacked) leftOut += 1;
    },
    counts: () => {
      // A form that is looked up again just before it is packed counts as ready meanwhile.
      made = Math.max(made, packed + ahead.ready());
      return { made, leftOut };
    },
  };
}

/** Records downloads of packed files, a few hundred at a time. */
function recording(db: Database, { caller, isFirst }: Packing) {
  let ids: string[] = [];
  const flush = async () => {
    const packed = ids;
    ids = [];
    await recordDownloads(db, caller, packed);
  };
  return {
    flush,
    async add(id: string) {
      if (isFirst) ids.push(id);
      if (ids.length >= STORED) await flush();
    },
  };
}

/** Yields the files of an archive one by one, and then the list of what was left out. */
async function* filesOf(
  deps: Deps,
  packing: Packing,
  ahead: ReturnType<typeof formsAhead>,
  { add }: Pick<ReturnType<typeof counting>, 'add'>,
  buffers: Buffers,
): AsyncGenerator<ZipSource> {
  const { isFixed } = packing;
  const checksums = checksumsOf(deps.db);
  const open = openerFor(deps, packing, buffers, checksums.add);
  const downloads = recording(deps.db, packing);
  const leftOut: string[] = [];
  try {
    for await (const { caller, row } of rowsOf(deps.db, packing, ahead.read)) {
      ahead.reach(row.asset_id);
      if (isFixed && isGiven(row) && row.file_hash !== row.planned_hash)
        throw new ArchiveChanged('a file of an archive was replaced');
      const opened = isGiven(row) ? await open(caller, row) : NOT_FOUND;
      if (typeof opened === 'string') {
        if (isFixed && row.name !== null) throw new ArchiveChanged('a file of an archive was taken away');
        leftOut.push(listed(row.asset_id, opened));
        add(row, false);
        continue;
      }
      try {
        yield opened.source;
      } finally {
        opened.close();
      }
      add(row, true);
      await downloads.add(row.asset_id);
      await checksums.flushIfMany();
    }
  } finally {
    await downloads.flush();
  }
  await checksums.flush();
  const text = leftOutText(leftOut);
  if (text !== null) yield text;
}

/** The bytes of an archive or of a range of it, and how many of its files are ready. */
function bodyOf(deps: Deps, packing: Packing, range?: ByteRange) {
  const ahead = formsAhead(deps, packing.archive);
  const { add, counts } = counting(ahead);
  const stream = recyclingBody((buffers) => writeZip(filesOf(deps, packing, ahead, { add }, buffers), range));
  stream.once('close', ahead.stop);
  return { stream, counts };
}

/** Reports how far a download is, and breaks it off when its archive is cancelled (ARCHIVE-8). */
function followDownload({ db }: Deps, { id }: ArchiveRow, { stream, counts }: ReturnType<typeof bodyOf>) {
  const end = reportProgress(db, id, counts, () =>
    stream.destroy(new ArchiveChanged('an archive was cancelled while it was packed')),
  );
  stream.once('close', () => void end(stream.readableEnded ? 'done' : 'stopped'));
}

/**
 * `GET /archives/{id}`. The whole archive is sent without a length, so that a file can be left out that the caller
 * loses access to meanwhile. A range is sent while the archive is as planned (ARCHIVE-6).
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
    const body = bodyOf(deps, { archive, caller, isFixed: false, isFirst: true });
    if (!http.isHead) followDownload(deps, archive, body);
    return { status: 200, body: body.stream, headers };
  }
  const { start, end } = outcome.range;
  const partial = {
    ...headers,
    'content-length': String(end - start + 1),
    'content-range': `bytes ${start}-${end}/${size}`,
  };
  return {
    status: 206,
    body: bodyOf(deps, { archive, caller, isFixed: true, isFirst: start === 0 }, outcome.range).stream,
    headers: partial,
  };
});
