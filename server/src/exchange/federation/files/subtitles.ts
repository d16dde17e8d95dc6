import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { sql } from 'kysely';
import { discard, type Received, receive } from '../../../content/assets/receive.ts';
import { storeSubtitles } from '../../../content/subtitles/store.ts';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import type { Columns, Tx } from '../../../platform/database/pool.ts';
import { Refusal } from '../../../platform/http/refuse.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import { subtitlesKey } from '../../../platform/storage/object-key.ts';
import { requireRoom } from '../../../platform/storage/room.ts';
import { type Install, readInstall } from '../identity.ts';
import { getBytes, OutboundError } from '../outbound.ts';

/** Maximum size, larger than any real subtitles. */
export const MOST_SUBTITLE_BYTES = 20_000_000;

interface Missing {
  lang: string;
  label: string;
  file_hash: string;
  /** 0 if the peer has not stated it. */
  size_bytes: number;
  source_format: Columns<'federated_subtitles', 'source_format'>['source_format'];
  confidence: number;
  instance_url: string;
}

const missing = (db: Deps['db'] | Tx, asset: string) =>
  sql<Missing>`select w.lang, w.label, w.file_hash, w.size_bytes, w.source_format, w.confidence, pe.instance_url
    from federated_subtitles w join assets a on a.id = w.asset_id
      join federation_peers pe on pe.id = a.origin_peer_id and pe.state = 'connected'
    where w.asset_id = ${asset} and not exists (select from subtitles s where s.asset_id = w.asset_id
      and s.lang = w.lang and s.file_hash = w.file_hash and s.label = w.label) order by w.lang`.execute(db);

/** Returns whether the file has the signature of WebVTT. */
async function isWebVtt(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(9), 0, 9, 0);
    return /^\uFEFF?WEBVTT/.test(buffer.subarray(0, bytesRead).toString('utf8'));
  } finally {
    await file.close();
  }
}

/** Receives bytes to a file; throws OutboundError when there are more than the peer stated, or than are allowed. */
async function receiveBytes(deps: Deps, bytes: Readable, most: number): Promise<Received> {
  try {
    return await receive(bytes, deps.storage, most);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 413) throw error;
    throw new OutboundError(sentence('the subtitles are too large'), { fault: 'too_large' });
  }
}

/**
 * Downloads subtitles to a file, and returns its path and size; throws OutboundError when the bytes are not those that
 * were named.
 */
async function download(deps: Deps, install: Install, wanted: Missing): Promise<Received> {
  const { file_hash: hash, size_bytes: size, instance_url: url } = wanted;
  await requireRoom(deps.storage, size);
  const most = size === 0 ? Math.min(MOST_SUBTITLE_BYTES, deps.config.federation.renditionBytes) : size;
  const received = await receiveBytes(
    deps,
    await getBytes(deps, install, `${url}/assets/${hash}/bytes`),
    most,
  );
  const named = received.hash === hash && (size === 0 || received.sizeBytes === size);
  if (named && (await isWebVtt(received.path))) return received;
  await discard(received.path);
  throw new OutboundError(
    named
      ? sentence('the subtitles are not WebVTT')
      : sentence('the peer sends other bytes than it announced'),
  );
}

/** Downloads subtitles; null if the asset is shown without them, because they are too large (FED-95). */
async function downloadAllowed(deps: Deps, install: Install, wanted: Missing): Promise<Received | null> {
  if (wanted.size_bytes > deps.config.federation.renditionBytes) return null;
  try {
    return await download(deps, install, wanted);
  } catch (error) {
    if (error instanceof OutboundError && error.fault === 'too_large') return null;
    throw error;
  }
}

/** Fetches the subtitles of a mirrored asset that are not here; a later run fetches what is still missing (FED-66). */
export function fetchSubtitlesJob(deps: Deps): JobHandler<'fetch-subtitles'> {
  return async ({ asset }) => {
    const install = await readInstall(deps);
    if (install === null) return;
    const { rows } = await missing(deps.db, asset);
    for (const wanted of rows) {
      const received = await downloadAllowed(deps, install, wanted);
      if (received === null) continue;
      const { path, sizeBytes } = received;
      try {
        await deps.storage.stage(path, subtitlesKey(wanted.file_hash));
        await deps.db.transaction().execute(async (tx) => {
          await tx.selectFrom('assets').where('id', '=', asset).forNoKeyUpdate().execute();
          const { rows: still } = await missing(tx, asset);
          // They were replaced or withdrawn meanwhile.
          if (!still.some((track) => track.lang === wanted.lang && track.file_hash === wanted.file_hash))
            return;
          await storeSubtitles(tx, deps.storage, {
            assetId: asset,
            lang: wanted.lang,
            label: wanted.label,
            prepared: {
              path,
              hash: wanted.file_hash,
              sizeBytes,
              format: wanted.source_format,
              confidence: wanted.confidence,
            },
          });
        });
      } finally {
        await discard(path);
      }
    }
  };
}
