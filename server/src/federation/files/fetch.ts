import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { lockFile } from '../../assets/insert.ts';
import { discard, receive } from '../../assets/receive.ts';
import type { Deps } from '../../deps.ts';
import { enqueue, type JobHandler } from '../../job-table.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { originalKey, renditionKey } from '../../platform/storage/object-key.ts';
import { mayRemoveFiles } from '../../platform/storage/removal.ts';
import { requireRoom } from '../../platform/storage/room.ts';
import { type Install, readInstall } from '../identity.ts';
import { asOutboundError, getBytes, OutboundError } from '../outbound.ts';
import type { AaRendition } from '../protocol/objects.ts';
import { decryptBytes, labelOf } from './encrypted-bytes.ts';

interface Origin {
  instance_url: string;
  origin_hash: string;
  size_bytes: number;
  renditions: Record<string, { bytes: number }>;
  origin_renditions: Record<string, AaRendition>;
  /** The key with which the peer encrypts the bytes; null if it sends them plain. */
  origin_key: Buffer | null;
}

async function originOf(db: Deps['db'], hash: string): Promise<Origin | null> {
  const { rows } =
    await sql<Origin>`select pe.instance_url, f.origin_hash, f.size_bytes, f.renditions, f.origin_renditions,
      f.origin_key
    from files f join federation_peers pe on pe.id = f.origin_peer_id and pe.state = 'connected'
    where f.hash = ${hash}`.execute(db);
  return rows[0] ?? null;
}

/** The file to download: an original or, with `variant`, a rendition of it. */
interface Download {
  size: number;
  variant: string | null;
}

/** Opens bytes of a peer from an offset on, decrypted if it encrypts them. */
async function openBytes(
  deps: Deps,
  install: Install,
  { instance_url: url, origin_hash: hash, origin_key: key }: Origin,
  variant: string | null,
  offset: number,
): Promise<Readable> {
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
function resumed(openFrom: (offset: number) => Promise<Readable>, size: number): Readable {
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
        const hopeless = offset === 0 || offset >= size || inVain > MOST_IN_VAIN;
        if (hopeless || error.fault === 'status' || attempt === MOST_RESUMPTIONS) throw error;
        await setTimeout(PAUSE_MS * 2 ** inVain);
      }
    }
  }
  return Readable.from(run(), { objectMode: false });
}

/**
 * Downloads bytes of a known length to a file, and returns its path; throws OutboundError when they differ. Originals
 * must have the hash they are named by, and continue after an interruption (FED-44); renditions may have been made
 * again meanwhile, and start over.
 */
async function download(
  deps: Deps,
  install: Install,
  origin: Origin,
  { size, variant }: Download,
): Promise<string> {
  await requireRoom(deps.storage, size);
  const hash = variant === null ? origin.origin_hash : null;
  const openFrom = (offset: number) => openBytes(deps, install, origin, variant, offset);
  const bytes = variant === null ? resumed(openFrom, size) : await openFrom(0);
  const received = await receive(bytes, deps.storage, size);
  if (received.sizeBytes === size && (hash === null || received.hash === hash)) return received.path;
  await discard(received.path);
  throw new OutboundError('the peer sends other bytes than it announced');
}

/**
 * Fetches the renditions that a peer has of these bytes, one after the other, and shows the assets when all are here
 * (FED-41). A later run fetches what is missing.
 */
export function fetchRenditionsJob(deps: Deps): JobHandler<'fetch-renditions'> {
  return async ({ hash }) => {
    const install = await readInstall(deps);
    const origin = install === null ? null : await originOf(deps.db, hash);
    if (install === null || origin === null) return;
    for (const [key, { url, width, height }] of Object.entries(origin.origin_renditions)) {
      // Renditions are not named by their content: one that was made again has another size.
      if (origin.renditions[key]?.bytes === url.size) continue;
      // The asset is shown without it (FED-95).
      if (url.size > deps.config.federation.renditionBytes) continue;
      let path: string;
      try {
        path = await download(deps, install, origin, { size: url.size, variant: key });
      } catch (error) {
        if (!(error instanceof OutboundError) || error.retryAfterMs === null) throw error;
        // The peer is busy; a delay that it requests does not count as an attempt (FED-76).
        const runAt = new Date(Date.now() + error.retryAfterMs).toISOString();
        return enqueue(deps.db, 'fetch-renditions', { hash }, { key: `fetch-renditions:${hash}`, runAt });
      }
      const object = renditionKey(hash, `peer-${randomUUID()}`);
      await deps.storage.stage(path, object);
      await deps.db.transaction().execute(async (tx) => {
        await lockFile(tx, hash);
        const { numAffectedRows } =
          await sql`update files set renditions = renditions || jsonb_build_object(${key}::text,
            ${JSON.stringify({ object, type: url.contentType, bytes: url.size, ...(width && height ? { width, height } : {}) })}::jsonb)
          where hash = ${hash} and origin_peer_id is not null`.execute(tx);
        // The share was withdrawn meanwhile.
        if (numAffectedRows === 0n) await discard(path);
        else await deps.storage.adopt(path, object);
      });
    }
    await sql`update assets set processing_status = 'ready' where file_hash = ${hash} and processing_status = 'pending'
      and origin_peer_id is not null`.execute(deps.db);
  };
}

/** Downloads in progress in this process, so that concurrent viewers share one download. */
export function openRemoteOriginals(deps: () => Deps) {
  const running = new Map<string, Promise<boolean>>();
  const fetchOne = async (hash: string): Promise<boolean> => {
    const own = deps();
    const install = await readInstall(own);
    const origin = install === null ? null : await originOf(own.db, hash);
    if (install === null || origin === null) return false;
    const path = await download(own, install, origin, { size: origin.size_bytes, variant: null });
    await own.storage.stage(path, originalKey(hash));
    await own.db.transaction().execute(async (tx) => {
      await lockFile(tx, hash);
      const { numAffectedRows } = await sql`update files set fetched_at = now() where hash = ${hash}`.execute(
        tx,
      );
      if (numAffectedRows === 0n) await discard(path);
      else await own.storage.adopt(path, originalKey(hash));
    });
    return true;
  };
  return {
    /**
     * Fetches an original from its peer; returns false if no peer has it (FED-42). Throws 503 if the
     * download fails.
     */
    fetch(hash: string): Promise<boolean> {
      const known = running.get(hash);
      if (known !== undefined) return known;
      const started = fetchOne(hash)
        .catch((error: unknown) => {
          if (!(error instanceof OutboundError)) throw error;
          throw refuse(503, `the library that has this file does not send it: ${error.message}`);
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
    const { rows } = await sql<{ hash: string }>`
      select hash from files
      where origin_peer_id is not null and fetched_at is not null order by fetched_at limit 1`.execute(db);
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
      await sql`update files set fetched_at = null where hash = ${oldest.hash}`.execute(tx);
      await storage.delete(originalKey(oldest.hash));
      return true;
    });
    if (!removed) return;
  }
}
