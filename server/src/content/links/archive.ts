import type { DownloadPreset } from '@vitrine/contract/downloads';
import { getLinkArchive } from '@vitrine/contract/link-visits';
import { sql } from 'kysely';
import pLimit from 'p-limit';
import { downloadedForm, type LinkVisitor, mayDownload, mayDownloadAs } from '../../access/links.ts';
import { visitor as anyVisitor } from '../../access/visitors.ts';
import type { Deps } from '../../core/deps.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import { keysOf } from '../../media/ladder.ts';
import type { NestedPlaceKey } from '../../platform/http/cursor.ts';
import { recyclingBody } from '../../platform/http/recycling-body.ts';
import { notFound, Refusal, refuse } from '../../platform/http/refuse.ts';
import type { Buffers } from '../../platform/storage/buffers.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { writeZip, type ZipSource } from '../../platform/zip/write.ts';
import { leftOutText, listed, NOT_FOUND } from '../archives/left-out.ts';
import { safeName } from '../archives/names.ts';
import { divideName, extensionOf, nameWith } from '../assets/file-name.ts';
import { disposition } from '../assets/send.ts';
import { formOf, readDownloadable } from '../downloads/forms.ts';
import { keyOf, readShown, type ShownRow } from './shown.ts';
import { countUses } from './uses.ts';
import { visitLink } from './visit.ts';

/** Files that are looked up at the same time. */
const FILES_AT_ONCE = 8;

/** Rows read at a time. */
const ROWS = 500;

/** After how long the link is checked and its rows are read again, so that a change ends or limits the download. */
const CURRENT_MS = 1000;

/** Prefixes numbers, which keeps names unique and files in order without remembering names. */
function numbered(number: number, name: string, fallback: string): string {
  return `${String(number).padStart(4, '0')} ${safeName(name) || fallback}`;
}

interface Source {
  object: string;
  bytes: number;
  extension: string | null;
}

/** Why a download with a watermark leaves a file out. */
const unmarked = 'downloads with a watermark have pictures only';

/** A watermark is drawn into pictures only: films and sounds are left out, rather than stills with their names (LINK-10). */
function isPacked({ watermark }: Pick<LinkVisitor, 'watermark'>, { mime }: ShownRow): boolean {
  return watermark === null || !/^(?:video|audio)\//.test(mime);
}

/**
 * Returns the stored file of an asset for the archive: its original or, on a link with a watermark, its largest
 * rendition, with its key.
 */
function storedSource(ladder: Deps['ladder'], { watermark }: LinkVisitor, row: ShownRow) {
  if (!isPacked({ watermark }, row)) return null;
  if (watermark === null) return { object: originalKey(row.file_hash), bytes: row.size_bytes, key: null };
  const key = keysOf(ladder).findLast((size) => row.renditions[size] !== undefined);
  const rendition = key === undefined ? undefined : row.renditions[key];
  return key === undefined || rendition === undefined ? null : { ...rendition, key };
}

/** Returns the file of an asset in a form of the link, or why it cannot be made into it. */
async function sourceAs(deps: Deps, row: ShownRow, form: DownloadPreset): Promise<Source | string> {
  const file = await readDownloadable(deps.db, row.id, row);
  if (file === null) return NOT_FOUND;
  try {
    // Field values are those that visitors of the library may read.
    return await formOf(deps, anyVisitor, file, form);
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** Returns the file of an asset for the archive, or why it has none; on a link with a watermark, the watermarked rendition. */
async function sourceOf(
  deps: Deps,
  visitor: LinkVisitor,
  row: ShownRow,
  form: DownloadPreset | null,
): Promise<Source | string> {
  if (form !== null) return sourceAs(deps, row, form);
  const stored = storedSource(deps.ladder, visitor, row);
  if (stored === null) return unmarked;
  if (stored.key === null || visitor.watermark === null) return { ...stored, extension: extensionOf(row) };
  const marked = await deps.watermarks.find({ hash: row.rendered_hash, ...stored }, visitor.watermark);
  return { ...marked, extension: marked.type.split('/')[1] ?? null };
}

/** Returns the name of a file once its extension is known. */
const named = (stem: string) => (extension: string | null) => nameWith(stem, extension);

/**
 * Names each file by its place among all files that the link shows, in one folder per post of a collection. A file has
 * the same number with and without a watermark, whether or not others are left out (LINK-11).
 */
function namesOf({ target }: LinkVisitor) {
  let folder = { number: 0, postId: '', name: '', files: 0 };
  return (row: ShownRow) => {
    const base = divideName(row.file_name).stem;
    if (target.kind === 'collection' && row.post_id === null) {
      folder = { number: folder.number + 1, postId: '', name: '', files: 0 };
      return named(numbered(folder.number, base, 'File'));
    }
    if (target.kind === 'collection' && row.post_id !== folder.postId) {
      const number = folder.number + 1;
      const name = `${numbered(number, row.post_title ?? '', 'Post')}/`;
      folder = { number, postId: row.post_id ?? '', name, files: 0 };
    }
    folder.files += 1;
    return named(`${folder.name}${numbered(folder.files, base, 'File')}`);
  };
}

/** The token of a link, and the preset of its archive. */
interface Wanted {
  readonly token: string;
  readonly preset: string | undefined;
}

/** Returns the visitor of a link that allows downloads; throws 403 otherwise, and the errors of `visitLink`. */
async function downloader(
  deps: Deps,
  { token, preset }: Wanted,
  http: HttpFacts,
): Promise<{ visitor: LinkVisitor; form: DownloadPreset | null }> {
  const { visitor } = await visitLink(deps, token, http);
  if (!mayDownload(visitor)) throw refuse('link-download-not-allowed');
  const form = downloadedForm(visitor, preset);
  if (form === undefined) throw notFound();
  const isOffered = form === null ? visitor.presets === null : mayDownloadAs(visitor, form);
  if (!isOffered) throw refuse('link-original-not-allowed');
  return { visitor, form };
}

/**
 * Yields the archive's files one by one: each is opened when the previous one has been sent. Throws for missing bytes
 * and for a link that no longer allows downloads, which breaks off the response instead of silently omitting files.
 */
async function* entriesOf(
  deps: Deps,
  wanted: Wanted,
  http: HttpFacts,
  first: Awaited<ReturnType<typeof downloader>>,
  buffers: Buffers,
): AsyncGenerator<ZipSource> {
  const nameOf = namesOf(first.visitor);
  let from: NestedPlaceKey | null = null;
  const leftOut: string[] = [];
  for (let given = first; ; given = await downloader(deps, wanted, http)) {
    const { visitor, form } = given;
    const readAt = performance.now();
    const rows: ShownRow[] = await readShown(deps.db, visitor, from, ROWS);
    let isCurrent = true;
    const sent: string[] = [];
    try {
      for (const row of rows) {
        from = keyOf(row);
        const nameWith = nameOf(row);
        const source = await sourceOf(deps, visitor, row, form);
        if (typeof source === 'string') {
          leftOut.push(listed(row.id, source));
          continue;
        }
        yield {
          name: nameWith(source.extension),
          sizeBytes: source.bytes,
          modified: new Date(row.created_at),
          crc: null,
          open: () => deps.storage.get(source.object, source.bytes, undefined, buffers),
        };
        // The next file is asked for once this one has been sent.
        sent.push(row.id);
        isCurrent = performance.now() - readAt < CURRENT_MS;
        if (!isCurrent) break;
      }
    } finally {
      await countUses(deps.db, 'download', visitor, sent);
    }
    if (isCurrent && rows.length < ROWS) break;
  }
  const text = leftOutText(leftOut);
  if (text !== null) yield text;
}

async function titleOf({ db }: Deps, { target }: LinkVisitor): Promise<string> {
  const column = target.kind === 'collection' ? sql.ref('name') : sql.ref('title');
  const { rows } = await sql<{ title: string }>`
    select ${column} as title from ${sql.table(`${target.kind}s`)} where id = ${target.id}`.execute(db);
  return rows[0]?.title ?? '';
}

/**
 * Throws if a file among the first of the archive is missing or damaged: once the response has begun, it can only be
 * broken off (FILE-5).
 */
async function requireFiles({ db, storage, ladder }: Deps, visitor: LinkVisitor): Promise<void> {
  const limit = pLimit(FILES_AT_ONCE);
  const rows: ShownRow[] = await readShown(db, visitor, null, ROWS);
  const check = async (row: ShownRow) => {
    const source = storedSource(ladder, visitor, row);
    if (source === null) return;
    const head = await storage.head(source.object);
    // Opening it throws the error that tells why it is not there.
    if (head?.sizeBytes !== source.bytes) (await storage.get(source.object, source.bytes)).destroy();
  };
  await Promise.all(rows.map((row) => limit(() => check(row))));
}

/** `GET /links/{token}/archive`: stored without compression, since pictures do not shrink; ZIP64 if needed. */
export const archive = handle(getLinkArchive, async (deps, { params, query, http }) => {
  const wanted = { token: params.token, preset: query.preset };
  const first = await downloader(deps, wanted, http);
  const { visitor } = first;
  if (first.form === null) await requireFiles(deps, visitor);
  const name = safeName(await titleOf(deps, visitor)) || 'Files';
  return {
    status: 200,
    body: recyclingBody((buffers) => writeZip(entriesOf(deps, wanted, http, first, buffers))),
    headers: {
      'content-type': 'application/zip',
      'content-disposition': disposition('attachment', `${name}.zip`),
      'cache-control': 'private, no-store',
    },
  };
});
