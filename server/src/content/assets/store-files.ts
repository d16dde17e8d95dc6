import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { isTiled, MAKERS_VERSION } from '../../media/renderable.ts';
import { exceedsLadder } from '../../media/tiles/geometry.ts';
import { isTranscoded } from '../../media/transcode.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { takeKeyedLocks } from '../../platform/database/take-lock.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { enqueueTiles, enqueueTranscode } from './decoding-jobs.ts';
import { storeFile } from './insert.ts';
import { entriesOf, prefixesOf, searchedText } from './keep-renditions.ts';
import { knownHashes, type PreparedFile } from './render-ahead.ts';

/** Returns the row of bytes that the library does not have, and the objects to store. */
function newFile({ received, made }: PreparedFile) {
  const { hash, path, sizeBytes, mime, extension } = received;
  const original = { path, key: originalKey(hash) };
  const row = { hash, size_bytes: sizeBytes, mime, extension };
  if (made === null)
    return { row: { ...row, renditions: {}, media: {}, text: '', ladder_version: 1 }, files: [original] };
  const { version, extras, ladder } = made;
  const others = entriesOf(hash, extras);
  const rungs = entriesOf(hash, ladder.renditions, prefixesOf({ version, moment: null, made: '' }).rungs);
  const marked = Object.entries(rungs.renditions).map(([key, rung]) => [key, { ...rung, rung: true }]);
  const rendered = {
    renditions: { ...others.renditions, ...Object.fromEntries(marked) },
    media: made.facts,
    text: searchedText(made.text),
    ladder_version: version,
    pixel_width: ladder.width,
    pixel_height: ladder.height,
    thumbhash: ladder.thumbhash,
    exif: made.exif,
  };
  return { row: { ...row, ...rendered }, files: [original, ...others.files, ...rungs.files] };
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
  const added = fresh.map(newFile);
  await storage.adoptAll(added.flatMap(({ files }) => files));
  await sql`insert into files (hash, size_bytes, mime, extension, makers_version, renditions, media, text, ladder_version,
      pixel_width, pixel_height, thumbhash, exif)
    select hash, size_bytes, mime, extension, ${MAKERS_VERSION}, renditions, media, text, ladder_version,
      pixel_width, pixel_height, thumbhash, exif
    from jsonb_to_recordset(${JSON.stringify(added.map(({ row }) => row))}::jsonb) as x (hash text, size_bytes bigint, mime text, extension text,
      renditions jsonb, media jsonb, text text, ladder_version integer, pixel_width integer, pixel_height integer,
      thumbhash text, exif jsonb)`.execute(tx);
  for (const file of fresh) await enqueueOthers(tx, file, String(ownerRef));
}
