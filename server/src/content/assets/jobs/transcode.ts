import { rm, utimes } from 'node:fs/promises';
import type { MediaFacts } from '@vitrine/contract/media';
import { sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import { notifyPeersOfFile } from '../../../core/outbox/enqueue.ts';
import { DecodingStopped } from '../../../media/decoding/process.ts';
import { MAKERS_VERSION } from '../../../media/renderable.ts';
import { transcodeLimit } from '../../../media/transcode.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { DatabaseUnavailable } from '../../../platform/database/unavailable.ts';
import { type Sentence, saySentence, sentence, storedForm } from '../../../platform/language/sentence.ts';
import { originalKey } from '../../../platform/storage/object-key.ts';
import { hasRoom, isStorageOutage } from '../../../platform/storage/room.ts';
import { enqueueTranscode } from '../decoding-jobs.ts';
import { lockFile } from '../insert.ts';
import { keepFiles, releaseIfPurged, stageFiles } from '../keep-renditions.ts';
import { markCurrent } from '../previews/rerender.ts';
import { openJobDirectory } from './directory.ts';

type TranscodeDeps = Pick<Deps, 'db' | 'storage' | 'decoders'>;

/** How often progress is recorded, in milliseconds; viewers poll about as often. */
const PROGRESS_EVERY_MS = 2000;
/** How long a transcode waits for disk space, or for another one that may still process the file. */
const POSTPONED_MS = 60_000;

async function recordResult(db: Database, hash: string, state: 'done' | 'failed', reason: Sentence | null) {
  const error = reason === null ? null : storedForm(reason);
  const progress = state === 'done' ? sql<number>`1` : sql<number>`progress`;
  await db.updateTable('transcodes').set({ state, error, progress }).where('file_hash', '=', hash).execute();
  await markCurrent(db, hash);
}

interface Work {
  mime: string;
  media: MediaFacts;
  state: string;
  /** Whether a worker has reported progress recently. */
  is_alive: boolean;
  /** Whether it has streams, which are made again. */
  has_streams: boolean;
}

/** Returns the file to transcode; null when it is gone. */
async function findWork(db: Database, hash: string): Promise<Work | null> {
  const { rows } = await sql<Work>`
    select f.mime, f.media, t.state, f.renditions ?| array['hls/master.m3u8', 'audio.m4a'] as has_streams,
      t.state = 'running' and t.updated_at > now() - make_interval(secs => ${POSTPONED_MS / 1000}) as is_alive
    from files f join transcodes t on t.file_hash = f.hash where f.hash = ${hash}`.execute(db);
  return rows[0] ?? null;
}

/**
 * Records the progress of a transcode every few seconds, which also shows that it is alive; returns the function that
 * stops it.
 */
function reportProgress(
  db: Database,
  { hash, outDir }: { hash: string; outDir: string },
  part: () => number,
) {
  let isWriting = false;
  const timer = setInterval(async () => {
    if (isWriting) return;
    isWriting = true;
    const now = new Date();
    await Promise.allSettled([
      db
        .updateTable('transcodes')
        .set({ progress: part(), updated_at: sql`now()` })
        .where('file_hash', '=', hash)
        .where('state', '=', 'running')
        .execute(),
      // The nightly sweep removes directories that have not changed for a day.
      utimes(outDir, now, now),
    ]);
    isWriting = false;
  }, PROGRESS_EVERY_MS);
  return () => clearInterval(timer);
}

/**
 * Makes the renditions of some bytes that take long. Idempotent, and may be killed at any time: renditions count only
 * once their row names them. A file that exceeds a limit of its decoder fails at once.
 */
export function transcodeJob({ db, storage, decoders }: TranscodeDeps): JobHandler<'transcode'> {
  const postpone = (hash: string, owner: string) => {
    const runAt = new Date(Date.now() + POSTPONED_MS).toISOString();
    return db.transaction().execute((tx) => enqueueTranscode(tx, { hash, owner, runAt }));
  };
  return async ({ hash, owner }, { lastAttempt, log }) => {
    const file = await findWork(db, hash);
    if (file === null || file.state === 'done') return;
    // The queue gives a job that takes hours to a second worker.
    if (file.is_alive || !(await hasRoom(storage))) return postpone(hash, owner);
    await db
      .updateTable('transcodes')
      .set({ state: 'running', progress: 0, error: null, updated_at: sql`now()` })
      .where('file_hash', '=', hash)
      .execute();
    // Other names than those of the streams that may be playing.
    const prefix = file.has_streams ? `m${MAKERS_VERSION}-` : '';
    const outDir = await openJobDirectory(storage, `transcode-${hash}`);
    let part = 0;
    const stopReporting = reportProgress(db, { hash, outDir }, () => part);
    try {
      const result = await storage.withLocalFile(originalKey(hash), (path) =>
        decoders.run(
          'transcode',
          owner,
          'transcode',
          { path, mime: file.mime, outDir },
          {
            timeoutMs: transcodeLimit(file.media),
            onProgress: (done) => {
              part = Math.min(1, Math.max(0, done));
            },
          },
        ),
      );
      if (result.outcome === 'broken') {
        log.info({ hash, reason: saySentence('en', result.reason) }, 'nothing was transcoded');
        return await recordResult(db, hash, 'failed', result.reason);
      }
      await stageFiles(storage, hash, result.renditions, prefix);
      await db.transaction().execute(async (tx) => {
        await lockFile(tx, hash);
        if (await releaseIfPurged(tx, hash)) return;
        if ((await findWork(tx, hash)) === null) return;
        const renditions = await keepFiles(storage, hash, result.renditions, prefix);
        await sql`update files set renditions = renditions || ${JSON.stringify(renditions)}::jsonb
          where hash = ${hash}`.execute(tx);
        await recordResult(tx, hash, 'done', null);
        await notifyPeersOfFile(tx, hash);
      });
    } catch (error) {
      if (error instanceof DecodingStopped) {
        log.warn({ hash, reason: error.message }, 'a file was too much for its decoder');
        return await recordResult(db, hash, 'failed', error.sentence);
      }
      if (error instanceof DatabaseUnavailable) throw error;
      if (lastAttempt && !isStorageOutage(error)) {
        await recordResult(db, hash, 'failed', sentence('transcoding failed; see the log'));
        throw error;
      }
      await db
        .updateTable('transcodes')
        .set({ state: 'waiting', progress: 0 })
        .where('file_hash', '=', hash)
        .execute();
      if (!isStorageOutage(error)) throw error;
      await postpone(hash, owner);
    } finally {
      stopReporting();
      await rm(outDir, { recursive: true, force: true });
    }
  };
}
