import { canonicalLanguage } from '@vitrine/contract/sidecars';
import { sql } from 'kysely';
import { enqueue, enqueueAll } from '../../../core/job-table.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { MOST_SUBTITLE_BYTES } from '../files/subtitles.ts';
import type { AaSubtitle } from '../protocol/objects.ts';

interface OfferedSubtitle {
  lang: string;
  label: string;
  file_hash: string;
  size_bytes: number;
  source_format: string;
  confidence: number;
}

function usableSubtitle({ lang, label, url, source_format, confidence }: AaSubtitle): OfferedSubtitle[] {
  const canonical = canonicalLanguage(lang);
  const usable =
    canonical !== null &&
    (url.contentType ?? 'text/vtt') === 'text/vtt' &&
    (url.size ?? 0) <= MOST_SUBTITLE_BYTES &&
    source_format !== 'pgs' &&
    source_format !== 'vobsub';
  if (!usable) return [];
  const size_bytes = url.size ?? 0;
  return [{ lang: canonical, label, file_hash: url.hash, size_bytes, source_format, confidence }];
}

/**
 * Stores which subtitles the origin of a mirrored asset has, removes others, and enqueues a fetch of missing ones
 * (FED-66). A hash does not prove possession: it could give readers of the mirror private subtitles of this library.
 */
export async function receiveSubtitles(
  tx: Tx,
  assetId: string,
  subtitles: readonly AaSubtitle[] = [],
): Promise<void> {
  const byLang = new Map(subtitles.flatMap(usableSubtitle).map((track) => [track.lang, track]));
  await sql`delete from federated_subtitles where asset_id = ${assetId} and lang <> all(${[...byLang.keys()]}::text[])`.execute(
    tx,
  );
  await sql`insert into federated_subtitles (asset_id, lang, label, file_hash, size_bytes, source_format, confidence)
    select ${assetId}, x.* from jsonb_to_recordset(${JSON.stringify([...byLang.values()])}::jsonb)
      as x (lang text, label text, file_hash text, size_bytes bigint, source_format text, confidence double precision)
    on conflict (asset_id, lang) do update set label = excluded.label, file_hash = excluded.file_hash,
      size_bytes = excluded.size_bytes, source_format = excluded.source_format, confidence = excluded.confidence`.execute(
    tx,
  );
  const { rows: gone } = await sql<{ file_hash: string }>`
    delete from subtitles s where s.asset_id = ${assetId} and not exists (select from federated_subtitles w
      where w.asset_id = s.asset_id and w.lang = s.lang) returning s.file_hash`.execute(tx);
  await enqueueAll(
    tx,
    'release-bytes',
    gone.map(({ file_hash: hash }) => ({ payload: { hash }, key: `release:${hash}` })),
  );
  if (byLang.size > 0)
    await enqueue(tx, 'fetch-subtitles', { asset: assetId }, { key: `fetch-subtitles:${assetId}` });
}
