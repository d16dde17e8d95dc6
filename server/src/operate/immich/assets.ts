import { sql } from 'kysely';
import { moveToTrash } from '../../content/assets/delete.ts';
import { insertAsset, stageFile, storeFile } from '../../content/assets/insert.ts';
import { discard, type Received } from '../../content/assets/receive.ts';
import { attachMetadata } from '../../content/sidecars/store.ts';
import { keysOf } from '../../media/ladder.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { findOwn } from '../import/store.ts';
import { bringVersion, recordFile } from '../imports/changed-files.ts';
import { unlessEdited } from '../imports/edited.ts';
import { inLanes } from '../imports/lanes.ts';
import { fingerprintOf } from '../imports/report.ts';
import type { Asset } from './answers.ts';
import { FileFailure } from './client.ts';
import type { Context } from './context.ts';
import { describedBy, descriptionOf, tagsOf } from './described.ts';
import { filmsIn, importFilm } from './films.ts';
import { fileNameOf, receiveOriginal } from './originals.ts';
import { keepReaders, readersOfAssets } from './readers.ts';

/** An asset of Immich as it is about to be written. */
interface Prepared {
  asset: Asset;
  tags: readonly string[];
  readers: readonly number[];
  fingerprint: string;
}

/** ASSET-19: the most tags of an asset. */
const MOST_TAGS = 50;

/** Only the owner and accounts with a share see archived and hidden files. */
function statusOf({ visibility }: Asset): 'active' | 'archived' {
  return visibility === 'timeline' ? 'active' : 'archived';
}

/** Gives an asset what Immich knows of it. Tags that an earlier run gave are not given again: a person may have removed them. */
async function describe(tx: Tx, { ledger, owner }: Context, id: string, { asset, tags }: Prepared) {
  const row = await tx
    .selectFrom('assets')
    .select('file_hash')
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (row?.file_hash == null) return;
  const given = ledger.find('tags', asset.id)?.target.split('\n') ?? [];
  const fresh = tags.filter((tag) => !given.includes(tag));
  const described = describedBy(asset);
  // With new tags it is a new sidecar.
  const hash = fingerprintOf(described.hash, tags);
  await attachMetadata(tx, { id, hash: row.file_hash, ownerRef: owner.ref }, [
    { ...described, hash, tags: fresh },
  ]);
  if (fresh.length > 0)
    await ledger.record(tx, 'tags', asset.id, [...new Set([...given, ...tags])].join('\n'));
}

/** Stores received bytes as a new asset, or takes the asset that the owner has of them. Returns its id. */
async function storeAsset(tx: Tx, context: Context, received: Received, asset: Asset): Promise<string> {
  const { deps, owner, reporter } = context;
  await storeFile(tx, deps.storage, received);
  const known = await findOwn(tx, owner.ref, received.hash);
  if (known !== null) {
    reporter.count('assets_already_here');
    await sql`update assets set description = ${descriptionOf(asset)} where id = ${known} and description = ''`.execute(
      tx,
    );
    return known;
  }
  const { hash, mime, kind } = received;
  const id = await insertAsset(tx, {
    ownerRef: owner.ref,
    ladderKeys: keysOf(deps.ladder),
    hash,
    mime,
    kind,
    fileName: fileNameOf(asset),
    // Nobody else sees a file there unless it is shared (IMPORT-14).
    fields: { sensitivity: 'posts', status: statusOf(asset), description: descriptionOf(asset) },
  });
  if (asset.createdAt !== undefined && !Number.isNaN(Date.parse(asset.createdAt)))
    await sql`update assets set created_at = ${asset.createdAt}::timestamptz where id = ${id}`.execute(tx);
  if (asset.isTrashed) await moveToTrash(tx, owner, [id], 'In the trash of Immich');
  reporter.count(asset.isTrashed ? 'assets_created_in_the_trash' : 'assets_created');
  return id;
}

async function createAsset(context: Context, prepared: Prepared): Promise<void> {
  const { deps, ledger } = context;
  const { asset, readers, fingerprint } = prepared;
  const received = await receiveOriginal(context, asset);
  try {
    await stageFile(deps.storage, received);
    await deps.db.transaction().execute(async (tx) => {
      const id = await storeAsset(tx, context, received, asset);
      await ledger.record(tx, 'resource', asset.id, id, fingerprint);
      await recordFile(
        tx,
        context,
        { kind: 'original', ref: asset.id },
        { hash: received.hash, mark: asset.checksum },
      );
      await describe(tx, context, id, prepared);
      await keepReaders(tx, context, asset.id, id, readers);
    });
  } finally {
    await discard(received.path);
  }
}

/** Writes what has changed since an earlier run, and brings a changed file as a new version. */
async function updateAsset(context: Context, id: string, prepared: Prepared): Promise<void> {
  const { deps, ledger, reporter } = context;
  const { asset, readers, fingerprint } = prepared;
  const here = await deps.db
    .selectFrom('assets')
    .select('deleted_at')
    .where('id', '=', id)
    .executeTakeFirst();
  // What was deleted here is not imported again.
  if (here === undefined) return reporter.count('assets_deleted_here');
  if (asset.isTrashed && here.deleted_at === null)
    reporter.vanish('resource', asset.id, sentence('is in the trash of Immich; its asset stays'));
  await bringVersion(context, { kind: 'original', ref: asset.id }, id, {
    fileName: fileNameOf(asset),
    mark: asset.checksum,
    receive: () => receiveOriginal(context, asset),
  });
  await deps.db.transaction().execute(async (tx) => {
    await sql`update assets set ${unlessEdited(id, 'status', sql`${statusOf(asset)}::text`)},
        ${unlessEdited(id, 'description', sql`${descriptionOf(asset)}::text`)}, updated_at = now()
      where id = ${id}`.execute(tx);
    await describe(tx, context, id, prepared);
    await keepReaders(tx, context, asset.id, id, readers);
    await ledger.record(tx, 'resource', asset.id, id, fingerprint);
  });
  reporter.count('assets_changed');
}

async function importAsset(context: Context, prepared: Prepared): Promise<void> {
  const { ledger, reporter } = context;
  const { asset, tags, fingerprint } = prepared;
  reporter.count('resources');
  if (tags.length > MOST_TAGS)
    reporter.leaveOut(
      'tags',
      asset.id,
      sentence('has more than {most} tags; the others are left out', { most: MOST_TAGS }),
    );
  const known = ledger.find('resource', asset.id);
  try {
    if (known === undefined) await createAsset(context, prepared);
    else if (known.fingerprint !== fingerprint) await updateAsset(context, known.target, prepared);
    await importFilm(context, asset);
  } catch (error) {
    if (!(error instanceof FileFailure)) throw error;
    reporter.leaveOut('file', asset.id, sentenceOfError(error));
  }
}

/** Imports all assets with their files, as many at once as there are cores. */
export async function importAssets(context: Context, onProgress: (done: number) => void): Promise<void> {
  const { library, isStopped } = context;
  const readersOf = readersOfAssets(context);
  const films = filmsIn(library);
  let done = 0;
  await inLanes(library.assets.values(), isStopped, async (asset) => {
    if (!films.has(asset.id)) {
      const tags = tagsOf(asset, library.tags.get(asset.id) ?? []);
      const readers = readersOf(asset.id);
      await importAsset(context, { asset, tags, readers, fingerprint: fingerprintOf(asset, tags, readers) });
    }
    done += 1;
    onProgress(done);
  });
}
