import { stat } from 'node:fs/promises';
import { sql } from 'kysely';
import { notifyPeers } from '../../core/outbox/enqueue.ts';
import type { EmbeddedSubtitles } from '../../media/still.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { subtitlesKey } from '../../platform/storage/object-key.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { lockFile } from './insert.ts';
import { hashOf } from './repair.ts';

interface Staged extends EmbeddedSubtitles {
  hash: string;
  sizeBytes: number;
}

/** Stages what `keepEmbedded` adopts. */
export async function stageEmbedded(
  storage: Storage,
  subtitles: readonly EmbeddedSubtitles[],
): Promise<Staged[]> {
  const staged: Staged[] = [];
  for (const track of subtitles) {
    const hash = await hashOf(track.path);
    await storage.stage(track.path, subtitlesKey(hash));
    staged.push({ ...track, hash, sizeBytes: (await stat(track.path)).size });
  }
  return staged;
}

/**
 * Gives every asset of these bytes the subtitles inside them, except in languages in which it has a track. The caller
 * holds the lock of the bytes (SUBTITLE-9).
 */
export async function keepEmbedded(
  tx: Tx,
  storage: Storage,
  fileHash: string,
  staged: readonly Staged[],
): Promise<void> {
  const changed = new Set<string>();
  // The same order for every worker, which prevents deadlocks.
  for (const track of staged.toSorted((a, b) => (a.hash < b.hash ? -1 : 1))) {
    await lockFile(tx, track.hash);
    await storage.adopt(track.path, subtitlesKey(track.hash));
    const { rows } = await sql<{ asset_id: string }>`
      insert into subtitles (asset_id, lang, label, file_hash, size_bytes, source_format, confidence, embedded)
      select a.id, ${track.lang}, ${track.label}, ${track.hash}, ${track.sizeBytes}, ${track.format}, 1, true
      from assets a where a.file_hash = ${fileHash}
      on conflict (asset_id, lang) do nothing returning asset_id`.execute(tx);
    for (const { asset_id } of rows) changed.add(asset_id);
  }
  for (const objectId of [...changed].sort()) {
    await notifyPeers(tx, { activity: 'update', kind: 'asset', objectId, actorRef: null });
    await tx.updateTable('assets').set({ updated_at: nextUpdatedAt }).where('id', '=', objectId).execute();
  }
}
