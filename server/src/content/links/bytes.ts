import type { DownloadPreset } from '@vitrine/contract/downloads';
import { getLinkFile, getLinkStream, getLinkVariant } from '@vitrine/contract/link-visits';
import { isServedWhole } from '@vitrine/contract/renditions';
import { sql } from 'kysely';
import {
  downloadedForm,
  type LinkVisitor,
  linkedAssets,
  linkedVersion,
  mayDownload,
  mayDownloadAs,
  maySeeUnmarked,
} from '../../access/links.ts';
import { visitor as anyVisitor } from '../../access/visitors.ts';
import type { Deps, StoredRendition } from '../../core/deps.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import { keysOf } from '../../media/ladder.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { sandboxPolicy } from '../../platform/http/security-headers.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { divideName, nameWith } from '../assets/file-name.ts';
import { hashOfRendition, renditionOf } from '../assets/film.ts';
import { disposition, isInert, notFoundIfRemoved, onceRecorded, send, sendOriginal } from '../assets/send.ts';
import { formOf, readDownloadable } from '../downloads/forms.ts';
import { linkedRenditions } from './shown.ts';
import { countDownload } from './uses.ts';
import { visitLink } from './visit.ts';

interface ServedRow
  extends Columns<'assets', 'file_hash' | 'file_name' | 'title'>,
    Columns<'files', 'size_bytes' | 'mime'> {
  rendition: StoredRendition | null;
}

/** Returns an asset that the link shows, with one rendition; null for any other asset. */
async function findServed(
  db: Database,
  visitor: LinkVisitor,
  id: string,
  key: string | null,
): Promise<ServedRow | null> {
  const { rows } = await sql<ServedRow>`
    select f.hash as file_hash, v.file_name, a.title, f.size_bytes, f.mime, ${renditionOf(sql`${key}::text`)} as rendition
    from assets a cross join ${linkedVersion(visitor)} join files f on f.hash = ${fileOf(key)} where a.id = ${id} and ${linkedAssets(visitor)}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** The file of a version: for a rendition of the current one, the file whose renditions are shown (VERSION-6). */
function fileOf(key: string | null) {
  return key === null
    ? sql`v.file_hash`
    : hashOfRendition(sql`${key}::text`, linkedRenditions, sql`v.number is null`);
}

/** A revoked link ends immediately, so browsers revalidate each time and get 304. */
const sandboxed = {
  'content-security-policy': sandboxPolicy,
  'cache-control': 'private, no-cache',
};

/** Sends a file in a form that the link offers, as a download. */
async function sendForm(deps: Deps, http: HttpFacts, id: string, row: ServedRow, preset: DownloadPreset) {
  const file = await readDownloadable(deps.db, id, row);
  if (file === null) throw notFound();
  // Field values are those that visitors of the library may read.
  const form = await formOf(deps, anyVisitor, file, preset);
  return send(deps, http, {
    object: form.object,
    type: form.type,
    sizeBytes: form.bytes,
    etag: `"${row.file_hash}-${preset.key}-${form.object.split('/').at(-1) ?? ''}"`,
    immutable: false,
    headers: {
      ...sandboxed,
      'content-disposition': disposition(
        'attachment',
        nameWith(divideName(row.file_name).stem, form.extension),
      ),
    },
  });
}

/** Sends the original, or the file in a form of the link. 403 if the link does not offer it; assets outside the link are 404. */
export const file = handle(getLinkFile, async (deps, { params, query, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  const find = () => findServed(deps.db, visitor, params.id, null);
  const row = await find();
  const form = downloadedForm(visitor, query.preset);
  if (row === null || form === undefined) throw notFound();
  if (!mayDownloadAs(visitor, form)) throw refuse('link-original-not-allowed');
  if (form !== null) {
    const sent = await notFoundIfRemoved(sendForm(deps, http, params.id, row, form), find);
    return onceRecorded(
      sent,
      countDownload(deps.db, http, visitor, { assetId: params.id, status: sent.status }),
    );
  }
  const inline = isInert(row.mime) && query.download !== true;
  const sent = await notFoundIfRemoved(
    sendOriginal(deps, http, {
      object: originalKey(row.file_hash),
      type: row.mime,
      sizeBytes: row.size_bytes,
      etag: `"${row.file_hash}"`,
      immutable: false,
      isDownload: query.download === true,
      headers: {
        ...sandboxed,
        'content-disposition': disposition(inline ? 'inline' : 'attachment', row.file_name),
      },
    }),
    find,
  );
  if (inline) return sent;
  return onceRecorded(
    sent,
    countDownload(deps.db, http, visitor, { assetId: params.id, status: sent.status }),
  );
});

/** Sends a rendition, with the link's watermark if any: then only pictures of the ladder are available. */
async function sendRendition(
  deps: Deps,
  http: HttpFacts,
  { token, id, key, download }: { token: string; id: string; key: string; download: boolean },
) {
  const { visitor } = await visitLink(deps, token, http);
  const find = () => findServed(deps.db, visitor, id, isServedWhole(key) ? key : null);
  const row = await find();
  if (row === null || row.rendition === null) throw notFound();
  if (download && !mayDownload(visitor)) throw refuse('link-download-not-allowed');
  // A still is no download of a film or sound (LINK-10).
  if (download && !maySeeUnmarked(visitor) && /^(?:video|audio)\//.test(row.mime))
    throw refuse('link-download-not-allowed');
  if (!maySeeUnmarked(visitor) && !keysOf(deps.ladder).includes(key)) throw notFound();
  const { watermark } = visitor;
  const { rendition } = row;
  const source = { hash: row.file_hash, key, ...rendition };
  const found = watermark === null ? rendition : await deps.watermarks.find(source, watermark);
  const name = `${row.title.trim() || 'picture'}.${found.type.split('/')[1]}`;
  const sent = await notFoundIfRemoved(
    send(deps, http, {
      object: found.object,
      type: found.type,
      sizeBytes: found.bytes,
      // Its object has another name for every ladder, poster and watermark.
      etag: `"${row.file_hash}-${key}-${found.object.split('/').at(-1) ?? ''}"`,
      immutable: false,
      headers: {
        ...sandboxed,
        ...(download ? { 'content-disposition': disposition('attachment', name) } : {}),
      },
    }),
    find,
  );
  if (!download) return sent;
  return onceRecorded(sent, countDownload(deps.db, http, visitor, { assetId: id, status: sent.status }));
}

/** Sends a rendition by its key. */
export const variant = handle(getLinkVariant, async (deps, { params, query, http }) =>
  sendRendition(deps, http, { ...params, download: query.download === true }),
);

/** Sends a file of a video's streams. */
export const stream = handle(getLinkStream, async (deps, { params: { token, id, name }, query, http }) =>
  sendRendition(deps, http, { token, id, key: `hls/${name}`, download: query.download === true }),
);
