import { sql } from 'kysely';
import { attachFilm } from '../../content/assets/film.ts';
import { stageFile, storeFile } from '../../content/assets/insert.ts';
import { baseName, type Received, receiveFile } from '../../content/assets/receive.ts';
import { relate } from '../../content/assets/relate.ts';
import {
  discardPrepared,
  type PreparedFile,
  renderNew,
  renderTurns,
} from '../../content/assets/render-ahead.ts';
import { pairFolder, readMarks } from '../../content/live-photos/pair.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { bringVersion, recordFile } from '../imports/changed-files.ts';
import type { Context } from './context.ts';
import type { AlternativeRow, ResourceRow } from './details.ts';
import type { FileFinder } from './file-paths.ts';
import { fileToBring, findOriginal, givenName } from './originals.ts';
import type { Placement } from './placement.ts';
import { type AboutAsset, createAssets } from './store-asset.ts';
import { labelOf, readColumnTime } from './texts.ts';

function describe({ description, alt_type: type }: AlternativeRow): string {
  const lines = [description ?? '', (type ?? '') === '' ? '' : `Type: ${type}`];
  return lines.filter((line) => line !== '').join('\n');
}

/** Returns whether an alternative file is the film of the photo that is the file of its resource (IMPORT-15). */
async function isFilmOf(
  context: Context,
  files: FileFinder,
  row: ResourceRow,
  { received, fileName }: { received: Received; fileName: string },
): Promise<boolean> {
  const photo = received.kind === 'video' ? await findOriginal(files, row) : null;
  if (photo === null) return false;
  const marksOf = ({ path }: { path: string }) => readMarks(context.deps.metadata, path);
  const pairs = await pairFolder(
    { files: [{ name: givenName(context, row), path: photo.path }], marksOf },
    { files: [{ name: fileName, path: received.path }], marksOf },
  );
  return pairs.length > 0;
}

/**
 * Imports an alternative file as a separate asset with the access of its resource, as an earlier version, or as the film of a
 * photo.
 */
export async function importAlternative(
  context: Context,
  files: FileFinder,
  row: ResourceRow,
  alternative: AlternativeRow,
  { placement, about }: { placement: Placement; about: AboutAsset },
): Promise<void> {
  const { deps, ledger, reporter, plan, owner, isStopped } = context;
  const main = ledger.find('resource', row.ref)?.target ?? '';
  const known = ledger.find('alternative', alternative.ref);
  const extension = alternative.file_extension ?? '';
  const found = await files.alternative(row.ref, alternative.ref, extension);
  const name = labelOf(alternative.name ?? '', context.installation.language);
  if (found === null && known !== undefined) return;
  if (found === null) {
    const what = [name, alternative.description?.trim() ?? ''].filter((text) => text !== '').join(', ');
    return reporter.leaveOut(
      'alternative',
      alternative.ref,
      what === ''
        ? sentence('has no file and no name')
        : sentence('has no file; it was called {name}', { name: what }),
    );
  }
  const fileName = baseName(
    alternative.file_name?.trim() || `resource-${row.ref}-${alternative.ref}.${extension}`,
  );
  const key = { kind: 'alternative-file', ref: alternative.ref } as const;
  if (known !== undefined) {
    // As an earlier version, it is one of the resource's files.
    if (known.target !== main)
      await bringVersion(context, key, known.target, fileToBring(context, found, fileName));
    return;
  }
  const received = await receiveFile(found.path, deps.storage);
  const file: PreparedFile = { received, made: null };
  let directory: string | null = null;
  try {
    const isFilm = await isFilmOf(context, files, row, { received, fileName });
    const isVersion = plan.alternatives === 'versions';
    if (isFilm || isVersion) await stageFile(deps.storage, received);
    else {
      const turns = renderTurns();
      directory = await renderNew(deps, [file], { owner: owner.ref, underWay: new Set(), isStopped, turns });
    }
    await deps.db.transaction().execute(async (tx) => {
      if (isFilm) {
        await attachFilm(tx, deps, main, received);
        return ledger.record(tx, 'alternative', alternative.ref, main);
      }
      if (isVersion) {
        await storeFile(tx, deps.storage, received);
        await addEarlierVersion(tx, main, {
          hash: received.hash,
          fileName,
          note: [name, alternative.description ?? ''].join(' ').trim(),
          at: readColumnTime(alternative.creation_date),
        });
        return ledger.record(tx, 'alternative', alternative.ref, main);
      }
      const title = [about.title ?? '', name]
        .filter((text) => text !== '')
        .join(' – ')
        .slice(0, 500)
        .toWellFormed();
      const createdAt = readColumnTime(alternative.creation_date) ?? about.createdAt;
      const own = { ...about, title, createdAt, values: new Map() };
      const [id = ''] = await createAssets(tx, context, [{ about: own, placement, fileName, file }]);
      await tx
        .updateTable('assets')
        .set({ description: describe(alternative) })
        .where('id', '=', id)
        .execute();
      await relate(tx, main, id);
      await ledger.record(tx, 'alternative', alternative.ref, id);
      await recordFile(tx, context, key, { hash: received.hash, mark: found.mark });
    });
    reporter.count(isFilm ? 'films' : 'alternatives');
  } finally {
    discardPrepared([file], directory);
  }
}

/** Puts a version before the current one. */
async function addEarlierVersion(
  tx: Tx,
  assetId: string,
  { hash, fileName, note, at }: { hash: string; fileName: string; note: string; at: string | null },
): Promise<void> {
  await sql`insert into asset_versions (asset_id, number, file_hash, file_name, created_at, created_by_user_ref)
    select id, 1, file_hash, file_name, created_at, owner_user_ref from assets where id = ${assetId}
      and not exists (select from asset_versions where asset_id = ${assetId})`.execute(tx);
  await sql`update asset_versions v set number = v.number + 1 where v.asset_id = ${assetId}
    and v.number = (select max(number) from asset_versions where asset_id = ${assetId})`.execute(tx);
  await sql`insert into asset_versions (asset_id, number, file_hash, file_name, note, created_at)
    select ${assetId}::uuid, max(number) - 1, ${hash}, ${fileName}, ${note.slice(0, 2000).toWellFormed()}, coalesce(${at}::timestamptz, now())
    from asset_versions where asset_id = ${assetId}`.execute(tx);
}
