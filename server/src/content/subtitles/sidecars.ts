import { type SidecarMatch, sidecarMatches } from '@vitrine/contract/sidecars';
import { sql } from 'kysely';
import { liveAsset, ownAssets } from '../../access/assets.ts';
import type { Deps } from '../../core/deps.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { Received } from '../assets/receive.ts';
import { MOST_SUBTITLE_BYTES, type Prepared, prepareSubtitles, storeSubtitles } from './store.ts';

/** Subtitles found beside a video, and their owner. */
export interface Sidecar {
  ownerRef: number;
  assetId: string;
  lang: string;
  prepared: Prepared;
}

/** A candidate for subtitles: an asset of the same owner that plays. */
const plays = sql<boolean>`(${liveAsset} and exists (select from files f where f.hash = a.file_hash
  and (f.mime like 'video/%' or f.mime like 'audio/%'
    or f.mime in ('application/ogg', 'application/mxf', 'application/vnd.ms-asf'))))`;

interface Target {
  assetId: string;
  lang: string;
}

/**
 * Returns the owner's newest video of the last day with the subtitles' name. Older ones are ignored: `movie.srt` rarely
 * belongs to last year's `movie.mp4`.
 */
async function findTarget(
  db: Database,
  ownerRef: number,
  matches: readonly SidecarMatch[],
): Promise<Target | null> {
  const { rows } = await sql<Target>`
    select a.id as "assetId", m.lang from assets a
      join unnest(${matches.map(({ stem }) => stem)}::text[], ${matches.map(({ lang }) => lang)}::text[])
        with ordinality m (stem, lang, place) on normalize(lower(regexp_replace(a.file_name, '\\.[^.]*$', '')), NFC) = m.stem
    where ${ownAssets(ownerRef)} and a.created_at > now() - interval '1 day' and ${plays}
    order by m.place, a.created_at desc, a.id desc limit 1`.execute(db);
  return rows[0] ?? null;
}

/** Returns the first of these assets that plays; null when none does. */
export async function firstPlayable(db: Database, targets: readonly Target[]): Promise<Target | null> {
  if (targets.length === 0) return null;
  const ids = targets.map(({ assetId }) => assetId);
  const { rows } = await sql<{ id: string }>`
    select a.id from assets a where a.id = any(${ids}::uuid[]) and ${plays}`.execute(db);
  const playing = new Set(rows.map(({ id }) => id));
  return targets.find(({ assetId }) => playing.has(assetId)) ?? null;
}

type NamedFile = Pick<Received, 'path' | 'hash' | 'sizeBytes'> & { name: string };

/**
 * Prepares subtitles for a video that the owner uploaded under the same name; null when the file is something else or
 * there is no such video.
 */
export async function prepareSidecar(
  deps: Pick<Deps, 'db' | 'decoders' | 'storage'>,
  ownerRef: number,
  file: NamedFile,
  known?: Target,
): Promise<Sidecar | null> {
  const matches = sidecarMatches(file.name);
  if (matches.length === 0 || file.sizeBytes > MOST_SUBTITLE_BYTES) return null;
  const target = known ?? (await findTarget(deps.db, ownerRef, matches));
  if (target === null) return null;
  const prepared = await prepareSubtitles(deps, ownerRef, file);
  return 'reason' in prepared ? null : { ownerRef, ...target, prepared };
}

/** Attaches prepared subtitles, unless their video was removed meanwhile. */
export async function attachSidecar(tx: Tx, storage: Storage, sidecar: Sidecar): Promise<void> {
  const { ownerRef, assetId, lang, prepared } = sidecar;
  const { rows } = await sql`select from assets a where a.id = ${assetId} and ${ownAssets(ownerRef)}
    and ${liveAsset} for no key update`.execute(tx);
  if (rows.length === 1) await storeSubtitles(tx, storage, { assetId, lang, label: '', prepared });
}
