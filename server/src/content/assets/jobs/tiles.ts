import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import { DecodingStopped } from '../../../media/decoding/process.ts';
import { TILES } from '../../../media/tiles/pack.ts';
import { DatabaseUnavailable } from '../../../platform/database/unavailable.ts';
import { originalKey, renditionKey } from '../../../platform/storage/object-key.ts';
import { hasRoom, isStorageOutage } from '../../../platform/storage/room.ts';
import { enqueueTiles } from '../decoding-jobs.ts';
import { lockFile } from '../insert.ts';
import { releaseIfPurged } from '../keep-renditions.ts';
import { markCurrent } from '../previews/rerender.ts';
import type { KeptTiles } from '../tiles.ts';
import { openJobDirectory } from './directory.ts';
import { openProgress } from './progress.ts';

type TilesDeps = Pick<Deps, 'db' | 'storage' | 'decoders'>;

/** The retry delay while the disk is full. */
const NO_ROOM_MS = 60_000;

/**
 * Cuts a picture into tiles and stores them as one object. Idempotent, and may be killed at any time, like rendering. A
 * picture that cannot be cut keeps its ladder only. Records its progress every `everyMs`.
 */
export function tilesJob({ db, storage, decoders }: TilesDeps, everyMs?: number): JobHandler<'tiles'> {
  return async ({ hash, owner }, { jobId, lastAttempt, log }) => {
    const { rows } = await sql<{ mime: string }>`
      select mime from files where hash = ${hash} and not renditions ? ${TILES}`.execute(db);
    const [file] = rows;
    if (file === undefined) return;
    const postpone = () =>
      enqueueTiles(db, { hash, owner, runAt: new Date(Date.now() + NO_ROOM_MS).toISOString() });
    if (!(await hasRoom(storage))) return postpone();
    const outDir = await openJobDirectory(storage, `tiles-${jobId}`);
    const progress = openProgress(db, jobId, everyMs);
    try {
      const { mime } = file;
      const made = await storage.withLocalFile(originalKey(hash), (path) =>
        decoders.run(
          'tiles',
          owner,
          'tiles',
          { path, mime, outDir },
          {
            onProgress: progress.report,
          },
        ),
      );
      if (typeof made === 'string') {
        log.warn({ hash, reason: made }, 'a picture has no tiles');
        return await markCurrent(db, hash);
      }
      const { path: pack, tileType: type, sizeBytes: bytes, width, height } = made;
      const object = renditionKey(hash, basename(pack));
      await storage.stage(pack, object);
      await db.transaction().execute(async (tx) => {
        await lockFile(tx, hash);
        if (await releaseIfPurged(tx, hash)) return;
        await storage.adopt(pack, object);
        const kept: KeptTiles = { object, type, bytes, width, height };
        await sql`update files set renditions = renditions || ${JSON.stringify({ [TILES]: kept })}::jsonb
          where hash = ${hash}`.execute(tx);
        await markCurrent(tx, hash);
      });
    } catch (error) {
      if (isStorageOutage(error)) return await postpone();
      if (error instanceof DatabaseUnavailable) throw error;
      if (error instanceof DecodingStopped || lastAttempt) await markCurrent(db, hash);
      if (!(error instanceof DecodingStopped)) throw error;
      log.warn({ hash, reason: error.message }, 'a picture was too much for its decoder and has no tiles');
    } finally {
      await progress.close();
      await rm(outDir, { recursive: true, force: true });
    }
  };
}
