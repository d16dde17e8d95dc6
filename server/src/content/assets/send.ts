import { Readable } from 'node:stream';
import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';
import { hasCurrent } from '../../platform/http/etag.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { type SentBytes, sendPart } from '../../platform/http/send-part.ts';
import { type ByteRange, NoSuchObject } from '../../platform/storage/storage.ts';

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

interface Sending extends SentBytes {
  object: string;
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
export function send(deps: Bytes, http: Pick<HttpFacts, 'header'>, sending: Sending) {
  return sendPart(http, sending, (range) => bodyOf(deps, sending, range));
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

/** Returns a response once its download is recorded. Closes its file if the record fails. */
export async function onceRecorded<T extends object>(sent: T, recorded: Promise<void>): Promise<T> {
  try {
    await recorded;
  } catch (error) {
    if ('body' in sent && sent.body instanceof Readable) sent.body.destroy();
    throw error;
  }
  return sent;
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
