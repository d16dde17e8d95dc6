import { sql } from 'kysely';
import type { Extent } from '../../../access/exports.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { logoKey, originalKey, subtitlesKey } from '../../../platform/storage/object-key.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import type { Entry, EntryContent } from '../bag/entry.ts';
import { assetPath, pathPart } from '../bag/names.ts';
import { PAGE, readAssets } from './asset-rows.ts';
import { xmpOf } from './xmp.ts';

export type StoredReader = Pick<Storage, 'get'>;

function stored(storage: StoredReader, key: string, sha256: string, bytes: number): EntryContent {
  return { kind: 'file', sha256, bytes, open: () => storage.get(key, bytes) };
}

/** Yields originals, their sidecars, earlier versions, subtitles and films. */
export async function* assetEntries(
  db: Database,
  storage: StoredReader,
  extent: Extent,
): AsyncGenerator<Entry> {
  for await (const asset of readAssets(db, extent)) {
    const key = `2 assets/${asset.id}`;
    const path = assetPath(asset);
    const original = stored(storage, originalKey(asset.file_hash), asset.file_hash, asset.size_bytes);
    yield { key: `${key}/1`, path, content: original };
    yield { key: `${key}/2`, path: `${path}.xmp`, content: { kind: 'text', text: xmpOf(asset) } };
    for (const { number, hash, bytes, file_name } of asset.versions) {
      yield {
        key: `${key}/3 ${String(number).padStart(10, '0')}`,
        path: assetPath({ ...asset, file_name }, { mark: ` v${number}` }),
        content: stored(storage, originalKey(hash), hash, bytes),
      };
    }
    for (const [at, { lang, hash, bytes }] of asset.subtitles.entries()) {
      const mark = `.${pathPart(lang, 'subtitles')}-${at + 1}`;
      yield {
        key: `${key}/4 ${String(at).padStart(10, '0')}`,
        path: assetPath(asset, { mark, extension: 'vtt' }),
        content: stored(storage, subtitlesKey(hash), hash, bytes),
      };
    }
    if (asset.film === null) continue;
    const { hash, bytes, extension } = asset.film;
    yield {
      key: `${key}/5`,
      path: assetPath(asset, { mark: ' film', extension: pathPart(extension ?? 'mov', 'mov') }),
      content: stored(storage, originalKey(hash), hash, bytes),
    };
  }
}

/** Yields stored files that belong to no asset. */
export async function* otherFiles(db: Database, storage: StoredReader): AsyncGenerator<Entry> {
  for (let after = ''; ; ) {
    const { rows } = await sql<{ hash: string; size_bytes: number; extension: string | null }>`
      select f.hash, f.size_bytes, f.extension from files f where f.hash > ${after} and f.origin_peer_id is null
        and not exists (select from assets a where a.file_hash = f.hash and a.origin_peer_id is null)
        and not exists (select from asset_versions v where v.file_hash = f.hash)
        and not exists (select from assets a where a.film_hash = f.hash and a.origin_peer_id is null)
      order by f.hash limit ${PAGE}`.execute(db);
    for (const { hash, size_bytes: bytes, extension } of rows) {
      const end = extension === null ? '' : `.${extension}`;
      const content = stored(storage, originalKey(hash), hash, bytes);
      yield { key: `3 files/${hash}`, path: `data/originals/other/${hash}${end}`, content };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.hash;
  }
}

/** Yields the pictures of the library's appearance. */
export async function* logoEntries(db: Database, storage: StoredReader): AsyncGenerator<Entry> {
  const logos = await db
    .selectFrom('logos')
    .select(['hash', 'size_bytes', 'content_type'])
    .orderBy('hash')
    .execute();
  for (const { hash, size_bytes: bytes, content_type: type } of logos) {
    const end = pathPart(type.split(/[/+]/)[1] ?? '', 'bin');
    const content = stored(storage, logoKey(hash), hash, bytes);
    yield { key: `4 logos/${hash}`, path: `data/logos/${hash}.${end}`, content };
  }
}
