import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { lockFile } from '../../../content/assets/insert.ts';
import { discard, type Received, receive } from '../../../content/assets/receive.ts';
import type { Deps } from '../../../core/deps.ts';
import { enqueue, type JobHandler } from '../../../core/job-table.ts';
import { sentenceOfError } from '../../../platform/faults/worded-errors.ts';
import { Refusal, refuse } from '../../../platform/http/refuse.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import { originalKey, renditionKey } from '../../../platform/storage/object-key.ts';
import { mayRemoveFiles } from '../../../platform/storage/removal.ts';
import { requireRoom } from '../../../platform/storage/room.ts';
import { type Install, readInstall } from '../identity.ts';
import { asOutboundError, getBytes, OutboundError } from '../outbound.ts';
import type { CasRef } from '../protocol/addresses.ts';
import type { AaRendition } from '../protocol/objects.ts';
import { decryptBytes, labelOf } from './encrypted-bytes.ts';
import { isMirrored, isShown, type MirroredRendition, ownHash } from './mirrored-renditions.ts';

interface Origin {
  instance_url: string;
  origin_hash: string;
  /** 0 if the peer has not stated it and the original was never fetched. */
  size_bytes: number;
  renditions: Record<string, MirroredRendition>;
  origin_renditions: Record<string, AaRendition>;
  /** The key with which the peer encrypts the bytes; null if it sends them plain. */
  origin_key: Buffer | null;
}

async function originOf(db: Deps['db'], hash: string): Promise<Origin | null> {
  const { rows } =
    await sql<Origin>`select pe.instance_url, f.origin_hash, f.size_bytes, f.renditions, f.origin_renditions,
      f.origin_key
    from files f join federation_peers pe on pe.id = f.origin_peer_id and pe.state = 'connected'
    where f.hash = ${hash} and f.origin_hash is not null`.execute(db);
  return rows[0] ?? null;
}

/** The file to download: an original or a rendition of it. */
interface Download {
  /** The SHA-256 that the bytes must have; null for renditions of peers that name only the original. */
  hash: string | null;
  /** The size that the bytes must have; null if the peer has not stated it. */
  size: number | null;
  /** The largest size of bytes without a stated one. */
  most: number;
  /** The key of a rendition; null for the original. */
  variant: string | null;
}

/** Opens bytes of a peer from an offset on, decrypted if it encrypts them. */
async function openBytes(
  deps: Deps,
  install: Install,
  { instance_url: url, origin_hash, origin_key: key }: Origin,
  wanted: Download,
  offset: number,
): Promise<Readable> {
  // The key of encrypted bytes belongs to the original, so renditions are requested with it.
  const own = key === null ? wanted.hash : null;
  const hash = own ?? origin_hash;
  const variant = own === null ? wanted.variant : null;
  const query = new URLSearchParams();
  if (variant !== null) query.set('variant', variant);
  if (key !== null) query.set('encrypted', '1');
  if (key !== null && offset > 0) query.set('offset', String(offset));
  const address = `${url}/assets/${hash}/bytes${query.size === 0 ? '' : `?${query}`}`;
  if (key === null) return getBytes(deps, install, address, offset === 0 ? null : { start: offset });
  return decryptBytes(await getBytes(deps, install, address), key, labelOf(hash, variant, offset));
}

/** Maximum number of resumptions of one download, in total and in a row without a new byte. */
const MOST_RESUMPTIONS = 100;
const MOST_IN_VAIN = 4;
const PAUSE_MS = 200;

/**
 * Reads bytes to their end and resumes after an interruption. Fails with OutboundError if the
 * peer refuses or stays unreachable.
 */
function resumed(openFrom: (offset: number) => Promise<Readable>, size: number | null): Readable {
  async function* run() {
    let offset = 0;
    let inVain = 0;
    for (let attempt = 0; ; attempt += 1) {
      const start = offset;
      try {
        for await (const chunk of await openFrom(start)) {
          offset += chunk.length;
          yield chunk;
        }
        return;
      } catch (thrown) {
        const error = asOutboundError(thrown);
        inVain = offset === start ? inVain + 1 : 0;
        const hopeless =
          offset === 0 || offset >= (size ?? Number.POSITIVE_INFINITY) || inVain > MOST_IN_VAIN;
        if (hopeless || error.fault === 'status' || attempt === MOST_RESUMPTIONS) throw error;
        await setTimeout(PAUSE_MS * 2 ** inVain);
      }
    }
  }
  return Readable.from(run(), { objectMode: false });
}

const otherBytes = () =>
  new OutboundError(sentence('the peer sends other bytes than it announced'), { fault: 'other_bytes' });

/** Receives bytes to a file; throws OutboundError when there are more than the peer stated, or than are allowed. */
async function receiveBytes(deps: Deps, bytes: Readable, { size, most }: Download): Promise<Received> {
  try {
    return await receive(bytes, deps.storage, size ?? most);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 413) throw error;
    throw size === null
      ? new OutboundError(sentence('the file is too large'), { fault: 'too_large' })
      : otherBytes();
  }
}

/**
 * Downloads bytes to a file; throws OutboundError, and keeps nothing, when they are not those that the peer announced
 * (FED-42, FED-96). Bytes with a hash continue after an interruption (FED-44). Renditions without one may have been made
 * again meanwhile, and start over.
 */
async function download(deps: Deps, install: Install, origin: Origin, wanted: Download): Promise<Received> {
  const { hash, size } = wanted;
  await requireRoom(deps.storage, size ?? 0);
  const openFrom = (offset: number) => openBytes(deps, install, origin, wanted, offset);
  const bytes = hash === null ? await openFrom(0) : resumed(openFrom, size);
  const received = await receiveBytes(deps, bytes, wanted);
  const isAnnounced =
    (size === null || received.sizeBytes === size) && (hash === null || received.hash === hash);
  if (isAnnounced) return received;
  await discard(received.path);
  throw otherBytes();
}

/** Downloads a rendition; null if the asset is shown without it, because it is too large (FED-95) or of another type. */
async function downloadRendition(
  deps: Deps,
  install: Install,
  origin: Origin,
  { key, url }: { key: string; url: CasRef },
): Promise<Received | null> {
  const { renditionBytes: most } = deps.config.federation;
  if (url.size !== null && url.size > most) return null;
  const hash = ownHash(url, { hash: origin.origin_hash, size: origin.size_bytes });
  try {
    const received = await download(deps, install, origin, { hash, size: url.size, most, variant: key });
    if (isShown(url.contentType ?? received.mime)) return received;
    await discard(received.path);
    return null;
  } catch (error) {
    if (error instanceof OutboundError && error.fault === 'too_large') return null;
    throw error;
  }
}

/** Stores a downloaded rendition, unless its share was withdrawn meanwhile. */
async function storeRendition(
  { db, storage }: Deps,
  hash: string,
  { key, url, width, height }: AaRendition & { key: string },
  { path, hash: sha256, sizeBytes: bytes, mime }: Received,
): Promise<void> {
  const object = renditionKey(hash, `peer-${randomUUID()}`);
  const size = width === undefined || height === undefined ? {} : { width, height };
  const entry = { object, type: url.contentType ?? mime, bytes, sha256, ...size };
  await storage.stage(path, object);
  await db.transaction().execute(async (tx) => {
    await lockFile(tx, hash);
    const { numAffectedRows } =
      await sql`update files set renditions = renditions || jsonb_build_object(${key}::text, ${JSON.stringify(entry)}::jsonb)
      where hash = ${hash} and origin_peer_id is not null`.execute(tx);
    if (numAffectedRows === 0n) await discard(path);
    else await storage.adopt(path, object);
  });
}

/**
 * Fetches the renditions that a peer has of these bytes, one after the other, and shows the assets when all are here
 * (FED-41). A later run fetches what is missing. Renditions with other bytes than announced do not hold up the others.
 */
export function fetchRenditionsJob(deps: Deps): JobHandler<'fetch-renditions'> {
  return async ({ hash }) => {
    const install = await readInstall(deps);
    const origin = install === null ? null : await originOf(deps.db, hash);
    if (install === null || origin === null) return;
    const original = { hash: origin.origin_hash, size: origin.size_bytes };
    let refused: OutboundError | null = null;
    for (const [key, rendition] of Object.entries(origin.origin_renditions)) {
      if (isMirrored(origin.renditions[key], rendition.url, original)) continue;
      try {
        const received = await downloadRendition(deps, install, origin, { key, url: rendition.url });
        if (received !== null) await storeRendition(deps, hash, { key, ...rendition }, received);
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error;
        if (error.fault === 'other_bytes') {
          refused = error;
          continue;
        }
        if (error.retryAfterMs === null) throw error;
        // The peer is busy; a delay that it requests does not count as an attempt (FED-76).
        const runAt = new Date(Date.now() + error.retryAfterMs).toISOString();
        return enqueue(deps.db, 'fetch-renditions', { hash }, { key: `fetch-renditions:${hash}`, runAt });
      }
    }
    if (refused !== null) throw refused;
    await deps.db
      .updateTable('assets')
      .set({ processing_status: 'ready' })
      .where('file_hash', '=', hash)
      .where('processing_status', '=', sql.lit('pending'))
      .where('origin_peer_id', 'is not', null)
      .execute();
  };
}

/** Downloads in progress in this process, so that concurrent viewers share one download. */
export function openRemoteOriginals(deps: () => Deps) {
  const running = new Map<string, Promise<number | null>>();
  const fetchOne = async (hash: string): Promise<number | null> => {
    const own = deps();
    const install = await readInstall(own);
    const origin = install === null ? null : await originOf(own.db, hash);
    if (install === null || origin === null) return null;
    const { path, sizeBytes } = await download(own, install, origin, {
      hash: origin.origin_hash,
      size: origin.size_bytes === 0 ? null : origin.size_bytes,
      most: own.config.maxFileBytes,
      variant: null,
    });
    await own.storage.stage(path, originalKey(hash));
    await own.db.transaction().execute(async (tx) => {
      await lockFile(tx, hash);
      const { numUpdatedRows } = await tx
        .updateTable('files')
        .set({ fetched_at: sql<string>`now()`, size_bytes: sizeBytes })
        .where('hash', '=', hash)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) await discard(path);
      else await own.storage.adopt(path, originalKey(hash));
    });
    return sizeBytes;
  };
  return {
    /**
     * Fetches an original from its peer and returns its size; null if no peer has it (FED-42). Throws 503 if the
     * download fails.
     */
    fetch(hash: string): Promise<number | null> {
      const known = running.get(hash);
      if (known !== undefined) return known;
      const started = fetchOne(hash)
        .catch((error: unknown) => {
          if (!(error instanceof OutboundError)) throw error;
          throw refuse('origin-unavailable', { reason: sentenceOfError(error) });
        })
        .finally(() => running.delete(hash));
      running.set(hash, started);
      return started;
    },
  };
}

/** Removes the oldest fetched originals until the rest fits into the allowed space (FED-43). */
export async function trimFetched({ db, storage, config }: Deps): Promise<void> {
  for (;;) {
    const rows = await db
      .selectFrom('files')
      .select('hash')
      .where('origin_peer_id', 'is not', null)
      .where('fetched_at', 'is not', null)
      .orderBy('fetched_at')
      .limit(sql.lit(1))
      .execute();
    const [oldest] = rows;
    if (oldest === undefined) return;
    const { rows: sums } = await sql<{
      total: number;
    }>`select coalesce(sum(size_bytes), 0)::float8 as total from files
      where origin_peer_id is not null and fetched_at is not null`.execute(db);
    if ((sums[0]?.total ?? 0) <= config.federation.cacheBytes) return;
    const removed = await db.transaction().execute(async (tx) => {
      await lockFile(tx, oldest.hash);
      if (!(await mayRemoveFiles(tx))) return false;
      await tx.updateTable('files').set({ fetched_at: null }).where('hash', '=', oldest.hash).execute();
      await storage.delete(originalKey(oldest.hash));
      return true;
    });
    if (!removed) return;
  }
}
