import { sql } from 'kysely';
import pLimit from 'p-limit';
import type { Deps } from '../../core/deps.ts';
import { isTiled, MAKERS_VERSION } from '../../media/renderable.ts';
import { exceedsLadder } from '../../media/tiles/geometry.ts';
import { isTranscoded } from '../../media/transcode.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { takeKeyedLocks } from '../../platform/database/take-lock.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { enqueueTiles, enqueueTranscode } from './decoding-jobs.ts';
import { storeFile } from './insert.ts';
import { type KeptRendition, keepFiles, prefixesOf, searchedText } from './keep-renditions.ts';
import { knownHashes, type MadeAhead, type PreparedFile } from './render-ahead.ts';

/** Files that are moved concurrently, so that the disk syncs several at once. */
const MOVED_AT_ONCE = 8;

/** Moves the renditions of some bytes to their place, and returns their entries. */
async function keepMade(
  storage: Storage,
  hash: string,
  { version, extras, ladder }: MadeAhead,
): Promise<Record<string, KeptRendition>> {
  const { rungs: prefix } = prefixesOf({ version, moment: null, made: '' });
  const others = await keepFiles(storage, hash, extras);
  const rungs = await keepFiles(storage, hash, ladder.renditions, prefix);
  const marked = Object.entries(rungs).map(([key, rung]) => [key, { ...rung, rung: true }] as const);
  return { ...others, ...Object.fromEntries(marked) };
}

/** Moves bytes that the library does not have to their place, and returns their row. */
async function adoptNew(storage: Storage, { received, made }: PreparedFile) {
  const { hash, path, sizeBytes, mime, extension } = received;
  await storage.adopt(path, originalKey(hash));
  const file = { hash, size_bytes: sizeBytes, mime, extension };
  if (made === null) return { ...file, renditions: {}, media: {}, text: '', ladder_version: 1 };
  return {
    ...file,
    renditions: await keepMade(storage, hash, made),
    media: made.facts,
    text: searchedText(made.text),
    ladder_version: made.version,
    pixel_width: made.ladder.width,
    pixel_height: made.ladder.height,
    thumbhash: made.ladder.thumbhash,
    exif: made.exif,
  };
}

/** Enqueues the renditions that take long, as after a job that renders. */
async function enqueueOthers(
  tx: Tx,
  { received: { hash, mime }, made }: PreparedFile,
  owner: string,
): Promise<void> {
  if (made === null) return;
  if (isTranscoded(mime, made.facts)) await enqueueTranscode(tx, { hash, owner });
  if (isTiled(mime) && exceedsLadder(made.ladder, made.rungs)) await enqueueTiles(tx, { hash, owner });
}

/**
 * Stores prepared bytes by hash, as `storeFile` does, with the renditions that were made ahead. Those that are new take a fixed
 * number of statements.
 */
export async function storeFiles(
  tx: Tx,
  { storage }: Pick<Deps, 'storage'>,
  files: readonly PreparedFile[],
  ownerRef: number,
): Promise<void> {
  const distinct = [...new Map(files.toReversed().map((file) => [file.received.hash, file])).values()];
  const hashes = distinct.map(({ received }) => received.hash);
  await takeKeyedLocks(tx, 'file', hashes);
  const known = await knownHashes(tx, hashes);
  for (const { received } of distinct) if (known.has(received.hash)) await storeFile(tx, storage, received);
  const fresh = distinct.filter(({ received }) => !known.has(received.hash));
  const rows = await pLimit(MOVED_AT_ONCE).map(fresh, (file) => adoptNew(storage, file));
  await sql`insert into files (hash, size_bytes, mime, extension, makers_version, renditions, media, text, ladder_version,
      pixel_width, pixel_height, thumbhash, exif)
    select hash, size_bytes, mime, extension, ${MAKERS_VERSION}, renditions, media, text, ladder_version,
      pixel_width, pixel_height, thumbhash, exif
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (hash text, size_bytes bigint, mime text, extension text,
      renditions jsonb, media jsonb, text text, ladder_version integer, pixel_width integer, pixel_height integer,
      thumbhash text, exif jsonb)`.execute(tx);
  for (const file of fresh) await enqueueOthers(tx, file, String(ownerRef));
}
