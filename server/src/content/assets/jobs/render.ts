import { rm } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import { enqueue, type JobHandler } from '../../../core/job-table.ts';
import { notifyPeersOfFile } from '../../../core/outbox/enqueue.ts';
import { DecodingStopped } from '../../../media/decoding/process.ts';
import { turnFlags } from '../../../media/decoding/turns.ts';
import { defaultLadder, keysOf, type Rung } from '../../../media/ladder.ts';
import type { Rendering } from '../../../media/render-file.ts';
import { isTiled, MAKERS_VERSION, previewKind } from '../../../media/renderable.ts';
import { isOfTranscode } from '../../../media/rendition-jobs.ts';
import { exceedsLadder } from '../../../media/tiles/geometry.ts';
import { TILES } from '../../../media/tiles/pack.ts';
import { isTranscoded } from '../../../media/transcode.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { DatabaseUnavailable } from '../../../platform/database/unavailable.ts';
import { nextUpdatedAt } from '../../../platform/http/unchanged.ts';
import { type Sentence, saySentence, sentence, storedForm } from '../../../platform/language/sentence.ts';
import { originalKey } from '../../../platform/storage/object-key.ts';
import { hasRoom, isStorageOutage } from '../../../platform/storage/room.ts';
import { DamagedObject, NoSuchObject, type Storage } from '../../../platform/storage/storage.ts';
import { enqueueRender, enqueueTiles, enqueueTranscode, NO_OWNER } from '../decoding-jobs.ts';
import { keepEmbedded, stageEmbedded } from '../embedded-subtitles.ts';
import { lockFile } from '../insert.ts';
import {
  keepFiles,
  prefixesOf,
  type RenderedBytes,
  releaseIfPurged,
  searchedText,
  stageFiles,
} from '../keep-renditions.ts';
import { readLadder } from '../previews/ladder.ts';
import { enqueueRelease } from '../used-files.ts';
import { openJobDirectory } from './directory.ts';
import { openProgress } from './progress.ts';

type RenderDeps = Pick<Deps, 'db' | 'storage' | 'encoder' | 'decoders'>;

/**
 * Stores the outcome for every pending asset of these bytes, and ends the interim in which renditions of an earlier version
 * are shown (VERSION-6). A failed asset becomes ready, too, when an operator
 * retried the job successfully.
 */
async function recordResult(
  tx: Tx,
  hash: string,
  status: 'ready' | 'failed',
  reason: Sentence | null,
): Promise<void> {
  const error = reason === null ? null : storedForm(reason);
  const { rows: shown } = await sql<{ hash: string }>`select distinct interim_hash as hash from assets
    where file_hash = ${hash} and interim_hash is not null`.execute(tx);
  await tx
    .updateTable('assets')
    .set({
      processing_status: status,
      processing_error: error,
      interim_hash: null,
      updated_at: nextUpdatedAt,
    })
    .where('file_hash', '=', hash)
    .where((eb) => {
      const waits = eb('processing_status', 'in', status === 'ready' ? ['pending', 'failed'] : ['pending']);
      if (status === 'failed') return waits;
      // Stored before its type could be rendered.
      return eb.or([waits, eb('processing_error', 'is distinct from', error)]);
    })
    .execute();
  // The version of these files may have been removed in the meantime.
  await enqueueRelease(
    tx,
    shown.map(({ hash }) => hash),
  );
}

/** Returns whether these bytes have the renditions that take long. */
async function hasTranscoded(tx: Tx, hash: string): Promise<boolean> {
  const { rows } = await sql<{ key: string }>`
    select jsonb_object_keys(renditions) as key from files where hash = ${hash}`.execute(tx);
  return rows.some(({ key }) => isOfTranscode(key));
}

/** Returns the entries of `renditions` that are not previews of an earlier ladder. */
const withoutRungs = sql`(select coalesce(jsonb_object_agg(e.key, e.value), '{}') from jsonb_each(renditions) e
  where not e.value ? 'rung' and e.key <> all(${keysOf(defaultLadder)}::text[]))`;

/** Returns the prefix of what the job of an upgrade draws, or that of the present renditions. */
function madePrefix(anew: boolean, object: string | null): string {
  return anew ? `m${MAKERS_VERSION}-` : (/\/(m\d+-)[^/]*$/.exec(object ?? '')?.[1] ?? '');
}

/** Stages what `keepRendering` adopts. */
async function stageRendering(
  storage: Storage,
  rendered: RenderedBytes,
  { ladder, extras }: Rendering,
): Promise<void> {
  const prefixes = prefixesOf(rendered);
  await stageFiles(storage, rendered.hash, extras, prefixes.extras);
  if (ladder.outcome === 'rendered')
    await stageFiles(storage, rendered.hash, ladder.renditions, prefixes.rungs);
}

/** Stores the renditions of the bytes. Renditions of other jobs stay. */
async function keepRendering(
  tx: Tx,
  deps: RenderDeps,
  rendered: RenderedBytes,
  rendering: Rendering,
): Promise<void> {
  const { hash, version } = rendered;
  const { ladder, extras, facts, text, exif } = rendering;
  const prefixes = prefixesOf(rendered);
  const others = await keepFiles(deps.storage, hash, extras, prefixes.extras);
  const made = { ...others };
  if (ladder.outcome === 'rendered') {
    const rungs = await keepFiles(deps.storage, hash, ladder.renditions, prefixes.rungs);
    for (const [key, rung] of Object.entries(rungs)) made[key] = { ...rung, rung: true };
  }
  const kept = ladder.outcome === 'rendered' ? withoutRungs : sql`renditions`;
  await sql`update files set renditions = ${kept} || ${JSON.stringify(made)}::jsonb,
    media = ${JSON.stringify(facts)}::jsonb, text = ${searchedText(text)}, ladder_version = ${version},
    makers_version = ${MAKERS_VERSION} where hash = ${hash}`.execute(tx);
  if (ladder.outcome !== 'rendered') return;
  await tx
    .updateTable('files')
    .set({
      pixel_width: ladder.width,
      pixel_height: ladder.height,
      thumbhash: ladder.thumbhash,
      exif: JSON.stringify(exif),
    })
    .where('hash', '=', hash)
    .execute();
}

/** Returns whether these bytes have every rendition of this ladder. */
async function isRendered(
  db: Database,
  hash: string,
  { version, keys }: { version: number; keys: readonly string[] },
): Promise<boolean> {
  const { rows } = await sql<{ complete: boolean }>`
    select renditions ?& ${keys}::text[] and ladder_version = ${version} as complete
    from files where hash = ${hash}`.execute(db);
  return rows[0]?.complete === true;
}

/** Returns whether the original is missing or cut short, which rendering cannot change. */
function isLost(error: unknown): boolean {
  if (error instanceof NoSuchObject || error instanceof DamagedObject) return true;
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Retries in a minute, without a limit: a full disk is not an error of the file, which must not count as failed. */
async function postpone(
  db: Database,
  file: { hash: string; mime: string; again?: true; anew?: true },
  owner?: string,
): Promise<void> {
  const ownerRef = /^\d+$/.test(owner ?? '') ? Number(owner) : null;
  const runAt = new Date(Date.now() + 60_000).toISOString();
  await db.transaction().execute((tx) => enqueueRender(tx, { ...file, ownerRef, runAt }));
}

/** Enqueues tiles for a picture with more pixels than its ladder, unless it has them. */
async function tileWhatIsLarge(
  db: Database,
  rungs: readonly Rung[],
  hash: string,
  owner?: string,
): Promise<void> {
  const { rows } = await sql<{ mime: string; width: number; height: number }>`
    select mime, pixel_width as width, pixel_height as height from files
    where hash = ${hash} and pixel_width is not null and pixel_height is not null and not renditions ? ${TILES}`.execute(
    db,
  );
  const [file] = rows;
  if (file !== undefined && isTiled(file.mime) && exceedsLadder(file, rungs)) {
    await enqueueTiles(db, { hash, owner });
  }
}

/**
 * Renders the ladder of some bytes. Idempotent, and may be killed at any time: renditions count only once their row
 * names them, and existing ones are not made again. A file that exceeds a limit of its decoder is ready without previews
 * at once (MEDIA-6); its owner may process it again. Records its progress every `everyMs`.
 */
export function renderJob(deps: RenderDeps, everyMs?: number): JobHandler<'render'> {
  const { db, storage, decoders } = deps;
  /** Skips files that were already tried with this ladder and these makers. */
  const giveUp = async (hash: string, version: number, status: 'ready' | 'failed', reason: Sentence) => {
    await sql`update files set ladder_version = ${version}, makers_version = ${MAKERS_VERSION}
      where hash = ${hash}`.execute(db);
    await db.transaction().execute((tx) => recordResult(tx, hash, status, reason));
  };
  return async ({ hash, owner, again, anew }, { jobId, lastAttempt, log }) => {
    const file = await db
      .selectFrom('files')
      .select(['mime', 'poster_seconds', sql<string | null>`renditions -> 'col' ->> 'object'`.as('object')])
      .where('hash', '=', hash)
      .executeTakeFirst();
    if (file === undefined) return;
    const { version, rungs } = await readLadder(db);
    if (again !== true && (await isRendered(db, hash, { version, keys: keysOf(rungs) }))) {
      await db.transaction().execute((tx) => recordResult(tx, hash, 'ready', null));
      return tileWhatIsLarge(db, rungs, hash, owner);
    }
    const moment = file.poster_seconds;
    const rendered = { hash, version, moment, made: madePrefix(anew === true, file.object) };
    const waiting = {
      hash,
      mime: file.mime,
      ...(again === undefined ? {} : { again }),
      ...(anew === undefined ? {} : { anew }),
    };
    if (!(await hasRoom(storage))) return postpone(db, waiting, owner);
    const outDir = await openJobDirectory(storage, `render-${jobId}`);
    const progress = openProgress(db, jobId, everyMs);
    try {
      const input = {
        mime: file.mime,
        rungs,
        outDir,
        ...(moment === null ? {} : { posterSeconds: moment }),
      };
      const rendering = await storage.withLocalFile(originalKey(hash), (path) =>
        decoders.run(
          previewKind(file.mime),
          owner ?? hash,
          'ladder',
          { path, ...input },
          {
            onProgress: progress.report,
          },
        ),
      );
      await stageRendering(storage, rendered, rendering);
      const subtitles = await stageEmbedded(storage, rendering.subtitles ?? []);
      const outcome = rendering.ladder;
      await db.transaction().execute(async (tx) => {
        await lockFile(tx, hash);
        if (await releaseIfPurged(tx, hash)) return;
        await keepRendering(tx, deps, rendered, rendering);
        await keepEmbedded(tx, storage, hash, subtitles);
        if (isTranscoded(file.mime, rendering.facts) && !(await hasTranscoded(tx, hash)))
          await enqueueTranscode(tx, { hash, owner: owner ?? NO_OWNER });
        if (outcome.outcome === 'rendered' && deps.encoder !== null)
          await enqueue(tx, 'encode', { hash }, { key: `encode:${hash}` });
        if (outcome.outcome === 'rendered')
          await enqueue(
            tx,
            'fingerprint',
            { hash },
            { key: `fingerprint:${hash}`, flags: turnFlags('picture', owner ?? NO_OWNER) },
          );
        await tileWhatIsLarge(tx, rungs, hash, owner);
        if (outcome.outcome === 'broken') await recordResult(tx, hash, 'failed', outcome.reason);
        else await recordResult(tx, hash, 'ready', outcome.outcome === 'unsupported' ? outcome.reason : null);
        await notifyPeersOfFile(tx, hash);
      });
      if (outcome.outcome !== 'rendered')
        log.info({ hash, ...outcome, reason: saySentence('en', outcome.reason) }, 'nothing was rendered');
    } catch (error) {
      if (error instanceof DecodingStopped) {
        // Retrying would exceed the limit again.
        log.warn({ hash, reason: error.message }, 'a file was too much for its decoder');
        return await giveUp(hash, version, 'ready', error.sentence);
      }
      if (isStorageOutage(error)) return await postpone(db, waiting, owner);
      if (lastAttempt && !(error instanceof DatabaseUnavailable))
        await giveUp(
          hash,
          version,
          isLost(error) ? 'failed' : 'ready',
          sentence('rendering failed; see the log'),
        );
      throw error;
    } finally {
      await progress.close();
      await rm(outDir, { recursive: true, force: true });
    }
  };
}
