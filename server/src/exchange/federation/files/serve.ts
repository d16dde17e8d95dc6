import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type RawBuilder, sql } from 'kysely';
import { assetsGivenEncrypted, assetsGivenTo, type PeerCaller } from '../../../access/federation.ts';
import { send } from '../../../content/assets/send.ts';
import { isText } from '../../../content/subtitles/tracks.ts';
import type { Deps } from '../../../core/deps.ts';
import { sandboxPolicy } from '../../../platform/http/security-headers.ts';
import { encryptedSize } from '../../../platform/storage/encrypted-stream.ts';
import { originalKey, subtitlesKey } from '../../../platform/storage/object-key.ts';
import { Rejection } from '../protocol/rejection.ts';
import { bytesKey, encryptBytes, labelOf } from './encrypted-bytes.ts';

interface StoredBytes {
  object: string;
  type: string;
  bytes: number;
}

/** Bytes that a peer may fetch, and the hash of the original that they are or belong to. */
interface GivenBytes extends StoredBytes {
  original: string;
}

/** Whether the peer is given an asset with the file `f`. */
function givenFile(peer: PeerCaller, isEncrypted: boolean): RawBuilder<boolean> {
  const given = isEncrypted
    ? sql`(${assetsGivenTo(peer)} or ${assetsGivenEncrypted(peer)})`
    : assetsGivenTo(peer);
  return sql<boolean>`(f.origin_peer_id is null and exists (select from assets a where a.file_hash = f.hash and ${given}))`;
}

/** Returns an original by its hash, or with `variant` a rendition of it. */
async function byOriginal(
  { db }: Deps,
  given: RawBuilder<boolean>,
  hash: string,
  variant: string | null,
): Promise<GivenBytes | null> {
  const { rows } = await sql<{ size_bytes: number; mime: string; rendition: StoredBytes | null }>`
    select f.size_bytes, f.mime, f.renditions -> ${variant}::text as rendition
    from files f where f.hash = ${hash} and ${given}`.execute(db);
  const [file] = rows;
  if (file === undefined) return null;
  if (variant === null)
    return { original: hash, object: originalKey(hash), type: file.mime, bytes: file.size_bytes };
  return file.rendition === null ? null : { original: hash, ...file.rendition };
}

/** Returns a rendition by the hash of its own bytes, under the rule of its original (FED-96). */
async function byOwnHash({ db }: Deps, given: RawBuilder<boolean>, hash: string): Promise<GivenBytes | null> {
  const { rows } = await sql<{ original: string; rendition: StoredBytes }>`
    select f.hash as original, r.value as rendition from files f, jsonb_each(f.renditions) r
    where jsonb_path_query_array(f.renditions, '$.*.sha256') ? ${hash} and r.value ->> 'sha256' = ${hash} and ${given}
    order by f.hash, r.key limit 1`.execute(db);
  const [found] = rows;
  return found === undefined ? null : { original: found.original, ...found.rendition };
}

/** The subtitles of an asset that the peer receives. */
interface Track {
  hash: string;
  size_bytes: number;
}

async function trackGivenTo({ db }: Deps, peer: PeerCaller, hash: string): Promise<Track | null> {
  const row = await db
    .selectFrom('subtitles as s')
    .innerJoin('assets as a', 'a.id', 's.asset_id')
    .select(['s.file_hash as hash', 's.size_bytes'])
    .where('s.file_hash', '=', hash)
    .where(isText)
    .where('a.origin_peer_id', 'is', null)
    .where(assetsGivenTo(peer))
    .limit(sql.lit(1))
    .executeTakeFirst();
  return row ?? null;
}

async function sendTrack(
  deps: Deps,
  { hash, size_bytes }: Track,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const sent = await send(
    deps,
    { header: (name) => [headers[name] ?? []].flat()[0] },
    {
      object: subtitlesKey(hash),
      type: 'text/vtt; charset=utf-8',
      sizeBytes: size_bytes,
      etag: `"${hash}"`,
      immutable: false,
      headers: { 'content-security-policy': sandboxPolicy },
    },
  );
  return reply
    .code(sent.status)
    .headers(sent.headers)
    .send('body' in sent ? sent.body : undefined);
}

function streamOf(body: Readable | Buffer): Readable {
  return Buffer.isBuffer(body) ? Readable.from([body]) : body;
}

/** Returns the offset of the plain bytes from which a peer continues an encrypted download; 0 without one. */
function offsetIn(wanted: unknown, sizeBytes: number): number {
  const offset = typeof wanted === 'string' && /^[0-9]{1,15}$/.test(wanted) ? Number(wanted) : 0;
  return offset < sizeBytes ? offset : 0;
}

/**
 * Sends a peer an original or a rendition by its hash, or with `variant` a rendition by the hash of its original, as
 * older peers request it (FED-40, FED-96). Every request is checked against the shares in force; bytes that are not
 * shared and bytes that do not exist look the same. With `encrypted` they are encrypted (FED-54), from `offset` on;
 * restricted and mature content is not served without.
 */
export async function sendBytes(
  deps: Deps,
  peer: PeerCaller,
  hash: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const parameter = (name: string): unknown => {
    const { query } = request;
    return typeof query === 'object' && query !== null ? Reflect.get(query, name) : undefined;
  };
  const wanted = parameter('variant');
  const encrypted = parameter('encrypted') === '1';
  const variant = typeof wanted === 'string' ? wanted : null;
  const given = givenFile(peer, encrypted);
  const object =
    (await byOriginal(deps, given, hash, variant)) ??
    (variant === null ? await byOwnHash(deps, given, hash) : null);
  if (object === null && variant === null && !encrypted) {
    const track = await trackGivenTo(deps, peer, hash);
    if (track !== null) return sendTrack(deps, track, request, reply);
  }
  if (object === null) throw new Rejection('unshared_object', 'these bytes are not shared with this peer');
  const offset = encrypted ? offsetIn(parameter('offset'), object.bytes) : 0;
  const headers: Record<string, string | string[] | undefined> = encrypted
    ? // A range of encrypted bytes means nothing to the peer, since each response is encrypted anew.
      { range: offset === 0 ? undefined : `bytes=${offset}-` }
    : request.headers;
  const sent = await send(
    deps,
    { header: (name) => [headers[name] ?? []].flat()[0] },
    {
      object: object.object,
      type: object.type,
      sizeBytes: object.bytes,
      etag: `"${hash}-${variant ?? ''}"`,
      immutable: false,
      headers: { 'content-security-policy': sandboxPolicy },
    },
  );
  if (encrypted && 'body' in sent) {
    const key = bytesKey(deps.secretKey, peer.peerId, object.original);
    return reply
      .header('content-type', 'application/octet-stream')
      .header('content-length', String(encryptedSize(object.bytes - offset)))
      .header('cache-control', 'private, no-store')
      .send(encryptBytes(streamOf(sent.body), key, labelOf(hash, variant, offset)));
  }
  return reply
    .code(sent.status)
    .headers(sent.headers)
    .send('body' in sent ? sent.body : undefined);
}
