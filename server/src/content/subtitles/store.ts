import { randomUUID } from 'node:crypto';
import { constants, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SubtitleTrack } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { enqueue } from '../../core/job-table.ts';
import { notifyPeers } from '../../core/outbox/enqueue.ts';
import { DecodingStopped } from '../../media/decoding/process.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { subtitlesKey } from '../../platform/storage/object-key.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { lockFile } from '../assets/insert.ts';
import { discard, type Received } from '../assets/receive.ts';
import { hashOf } from '../assets/repair.ts';
import { trackJson } from '../assets/show.ts';

/** Maximum size of image-based subtitles; text subtitles have a limit of their own (convert.ts). */
export const MOST_SUBTITLE_BYTES = 256 * 1024 * 1024;

/** Subtitles ready to be stored, in a file outside the library. */
export interface Prepared {
  path: string;
  hash: string;
  sizeBytes: number;
  format: SubtitleTrack['source_format'];
  /** 1 for text formats; 0 for image formats, whose text is not recognised; between them if another library says so. */
  confidence: number;
}

/** Why a file cannot be stored as subtitles. */
export interface Unusable {
  reason: Sentence;
}

/**
 * Converts a file to WebVTT in a decoder process, or copies image formats unchanged, and stages the result. Does not modify the file; the
 * caller discards the result.
 */
export async function prepareSubtitles(
  { decoders, storage }: Pick<Deps, 'decoders' | 'storage'>,
  owner: number,
  { path, hash, sizeBytes }: Pick<Received, 'path' | 'hash' | 'sizeBytes'>,
): Promise<Prepared | Unusable> {
  const to = join(storage.incomingDir, randomUUID());
  try {
    const made = await decoders.run('metadata', String(owner), 'subtitles', { path, to });
    if (made.outcome === 'refused') return { reason: made.reason };
    const { format } = made;
    if (made.outcome === 'pictures') {
      await copyFile(path, to, constants.COPYFILE_FICLONE);
      await storage.stage(to, subtitlesKey(hash));
      return { path: to, hash, sizeBytes, format, confidence: 0 };
    }
    let written = 0;
    const vttHash = await hashOf(to, (count) => {
      written += count;
    });
    await storage.stage(to, subtitlesKey(vttHash));
    return { path: to, hash: vttHash, sizeBytes: written, format, confidence: 1 };
  } catch (error) {
    await discard(to);
    if (error instanceof DecodingStopped) return { reason: sentence('the file takes too long to read') };
    throw error;
  }
}

/** Enqueues the removal of replaced or removed subtitles that no asset uses any more. */
async function release(tx: Tx, hash: string): Promise<void> {
  await enqueue(tx, 'release-bytes', { hash }, { key: `release:${hash}` });
}

/**
 * Stores these subtitles for an asset, replacing those in the same language. The caller holds the asset's row. Writes
 * nothing when they are identical.
 */
export async function storeSubtitles(
  tx: Tx,
  storage: Storage,
  track: { assetId: string; lang: string; label: string; prepared: Prepared },
): Promise<{ created: boolean; track: SubtitleTrack }> {
  const { assetId, lang, label, prepared } = track;
  const { hash, sizeBytes, format, confidence } = prepared;
  const { rows: earlier } = await sql<{ file_hash: string; label: string; format: string }>`
    select file_hash, label, source_format as format from subtitles
    where asset_id = ${assetId} and lang = ${lang}`.execute(tx);
  const [before] = earlier;
  await lockFile(tx, hash);
  // Even for the same bytes, which repairs a damaged or lost file.
  await storage.adopt(prepared.path, subtitlesKey(hash));
  const { rows } = await sql<{ shown: SubtitleTrack }>`
    insert into subtitles as s (asset_id, lang, label, file_hash, size_bytes, source_format, confidence)
    values (${assetId}, ${lang}, ${label}, ${hash}, ${sizeBytes}, ${format}, ${confidence})
    on conflict (asset_id, lang) do update set label = excluded.label, file_hash = excluded.file_hash,
      size_bytes = excluded.size_bytes, source_format = excluded.source_format, confidence = excluded.confidence, embedded = false
    returning ${trackJson} as shown`.execute(tx);
  const shown = rows[0]?.shown;
  if (shown === undefined) throw new Error('the subtitles were not written');
  if (before !== undefined && before.file_hash !== hash) await release(tx, before.file_hash);
  const isSame = before?.file_hash === hash && before.label === label && before.format === format;
  if (!isSame) await touch(tx, assetId);
  return { created: before === undefined, track: shown };
}

/** Removes a track; false when the asset has none in this language. */
export async function removeSubtitles(tx: Tx, assetId: string, lang: string): Promise<boolean> {
  const { rows } = await sql<{ file_hash: string }>`
    delete from subtitles where asset_id = ${assetId} and lang = ${lang} returning file_hash`.execute(tx);
  const [gone] = rows;
  if (gone === undefined) return false;
  await release(tx, gone.file_hash);
  await touch(tx, assetId);
  return true;
}

/** An asset's response contains its tracks, so a change of tracks changes the asset. */
async function touch(tx: Tx, assetId: string): Promise<void> {
  await notifyPeers(tx, { activity: 'update', kind: 'asset', objectId: assetId, actorRef: null });
  await tx.updateTable('assets').set({ updated_at: nextUpdatedAt }).where('id', '=', assetId).execute();
}
