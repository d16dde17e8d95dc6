import { getAssetFile, getAssetStream, getAssetVariant } from '@vitrine/contract/asset-bytes';
import { isServedWhole } from '@vitrine/contract/renditions';
import type { Caller } from '../../access/caller.ts';
import type { Deps, RequestedBytes, ServedRow } from '../../core/deps.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import { kindOf } from '../../media/sniff.ts';
import { hasCurrent, isSameForRange } from '../../platform/http/etag.ts';
import { readRange } from '../../platform/http/range.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { sandboxPolicy } from '../../platform/http/security-headers.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { type ByteRange, DamagedObject, NoSuchObject } from '../../platform/storage/storage.ts';
import { findServedVersion, streamKey } from './served.ts';

/**
 * Whether a browser shows this type without executing content: pictures except SVG, audio and video. Peers name types too,
 * so any spelling that differs from ours (capitals, parameters) counts as executable.
 */
export function isInert(mime: string): boolean {
  return /^(image|audio|video)\/[a-z0-9.+-]+$/.test(mime) && !mime.endsWith('xml');
}

/** RFC 6266: an ASCII name for old clients, and the real one without characters that change the direction of text. */
export function disposition(kind: 'inline' | 'attachment', given: string): string {
  const name = given.replace(/[\u202a-\u202e\u2066-\u2069]/g, '');
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

type Bytes = Pick<Deps, 'storage' | 'small'>;

interface Sending {
  object: string;
  type: string;
  sizeBytes: number;
  etag: string;
  /** The address identifies the bytes by `?v=`, so they may be cached permanently. */
  immutable: boolean;
  headers: Record<string, string>;
}

/** Reads an object or a range of it, from memory if it is small. */
async function bodyOf({ storage, small }: Bytes, { object, sizeBytes }: Sending, range?: ByteRange) {
  if (!small.takes(sizeBytes)) return storage.get(object, sizeBytes, range);
  const whole = await small.read(object, sizeBytes);
  return range === undefined ? whole : whole.subarray(range.start, range.end + 1);
}

/**
 * Sends an object entirely, in part or not at all, as the request's conditions demand. Throws DamagedObject when bytes
 * are missing, and NoSuchObject when the object does not exist.
 */
export async function send(deps: Bytes, http: Pick<HttpFacts, 'header'>, sending: Sending) {
  const headers = {
    etag: sending.etag,
    // Access to bytes can change, so shared caches must not store them.
    'cache-control': sending.immutable ? 'private, max-age=31536000, immutable' : 'private, no-cache',
    'accept-ranges': 'bytes',
    vary: 'Cookie, Authorization',
    ...sending.headers,
  };
  if (hasCurrent(http.header('if-none-match'), sending.etag)) return { status: 304, headers } as const;
  const range = isSameForRange(http.header('if-range'), sending.etag) ? http.header('range') : undefined;
  const outcome = readRange(range, sending.sizeBytes);
  if (outcome.kind === 'outside') {
    throw refuse('range-not-satisfiable', {}, { 'content-range': `bytes */${sending.sizeBytes}` });
  }
  const typed = { ...headers, 'content-type': sending.type };
  if (outcome.kind === 'whole') {
    const body = await bodyOf(deps, sending);
    return { status: 200, body, headers: { ...typed, 'content-length': String(sending.sizeBytes) } } as const;
  }
  const { start, end } = outcome.range;
  const body = await bodyOf(deps, sending, outcome.range);
  const partial = {
    ...typed,
    'content-length': String(end - start + 1),
    'content-range': `bytes ${start}-${end}/${sending.sizeBytes}`,
  };
  return { status: 206, body, headers: partial } as const;
}

/** Smaller downloads are sent by the service: the redirect costs the client a round trip, and the service a request. */
const REDIRECTED_BYTES = 1024 * 1024;

/**
 * Sends an original. A large download is redirected to the bucket, if the settings say so (FILE-11); the caller has been
 * checked. Throws as `send`.
 */
export async function sendOriginal(
  deps: Bytes,
  http: Pick<HttpFacts, 'header' | 'isHead'>,
  { isDownload, ...sending }: Sending & { isDownload: boolean },
) {
  const isCurrent = hasCurrent(http.header('if-none-match'), sending.etag);
  if (!isDownload || isCurrent || http.isHead || sending.sizeBytes < REDIRECTED_BYTES)
    return send(deps, http, sending);
  const { type, headers } = sending;
  const { 'content-disposition': disposition = 'attachment' } = headers;
  const location = await deps.storage.addressOf(sending.object, sending.sizeBytes, { type, disposition });
  if (location === null) return send(deps, http, sending);
  return { status: 302, headers: { location, 'cache-control': 'private, no-store' } } as const;
}

/** Reports 404 when the asset was removed while its bytes were being opened; otherwise they are missing (FILE-5). */
export async function notFoundIfRemoved<T>(sent: Promise<T>, find: () => Promise<unknown>): Promise<T> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof NoSuchObject && (await find()) === null) throw notFound();
    throw error;
  }
}

/** Returns what the caller may get: of the asset as it is, or of one of its versions. */
function findBytes(
  { db, served }: Pick<Deps, 'db' | 'served'>,
  caller: Caller,
  { version, ...wanted }: RequestedBytes & { version: number | undefined },
): Promise<ServedRow | null> {
  if (version === undefined) return served.find(caller, wanted);
  return findServedVersion(db, caller, { ...wanted, version });
}

/** Sends the original, under the content rule (FILE-2). Types that a browser could execute are sandboxed. */
export const file = handle(getAssetFile, async (deps, { caller, params, query, http }) => {
  const find = () => findBytes(deps, caller, { id: params.id, key: null, version: query.version });
  const row = await find();
  if (row === null) throw notFound();
  const inline = isInert(row.mime) && query.download !== true;
  const original = {
    object: originalKey(row.file_hash),
    type: row.mime,
    sizeBytes: row.size_bytes,
    etag: `"${row.file_hash}"`,
    immutable: query.v === row.file_hash,
    isDownload: query.download === true,
    headers: {
      'content-disposition': disposition(inline ? 'inline' : 'attachment', row.file_name),
      'content-security-policy': sandboxPolicy,
    },
  };
  const sent = sendOriginal(deps, http, original).catch(async (error: unknown) => {
    // A size that its peer did not state becomes known with the bytes, which another request may have fetched by now.
    const isUnknown = error instanceof DamagedObject && row.size_bytes === 0;
    const sizeBytes =
      isUnknown || error instanceof NoSuchObject ? await deps.originals.fetch(row.file_hash) : null;
    if (sizeBytes === null) throw error;
    return sendOriginal(deps, http, { ...original, sizeBytes });
  });
  return notFoundIfRemoved(sent, find);
});

interface WantedRendition {
  caller: Caller;
  id: string;
  key: string;
  /** The hash of the bytes in the address. */
  hash: string | undefined;
  version: number | undefined;
}

/** Sends a rendition, under the content rule; no access and no rendition are the same 404 (FILE-3). */
async function sendRendition(
  deps: Deps,
  http: HttpFacts,
  { caller, id, key, hash, version }: WantedRendition,
) {
  const find = () => findBytes(deps, caller, { id, key, version });
  const row = await find();
  if (row === null || row.rendition === null || !isServedWhole(key)) throw notFound();
  const sent = send(deps, http, {
    object: row.rendition.object,
    type: row.rendition.type,
    sizeBytes: row.rendition.bytes,
    // Its object has another name in every ladder.
    etag: `"${row.file_hash}-${key}-${row.rendition.object.split('/').at(-1) ?? ''}"`,
    // The owner of a video may choose another poster.
    immutable: hash === row.file_hash && kindOf(row.mime) !== 'video',
    headers: {
      'content-security-policy': sandboxPolicy,
      // Other sites may embed public renditions (oEmbed); browsers send no session there.
      ...(caller.kind === 'anonymous' ? { 'cross-origin-resource-policy': 'cross-origin' } : {}),
    },
  });
  return notFoundIfRemoved(sent, find);
}

/** Sends a rendition by its key. */
export const variant = handle(getAssetVariant, async (deps, { caller, params, query, http }) =>
  sendRendition(deps, http, {
    caller,
    id: params.id,
    key: params.key,
    hash: query.v,
    version: query.version,
  }),
);

/** Sends a file of a video's streams, under the path by which playlists reference it. */
export const stream = handle(getAssetStream, async (deps, { caller, params, query, http }) =>
  sendRendition(deps, http, {
    caller,
    id: params.id,
    key: streamKey(params.name),
    hash: query.v,
    version: undefined,
  }),
);
