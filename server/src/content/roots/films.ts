import { basename } from 'node:path/posix';
import { isPhotoName } from '@vitrine/contract/sidecars';
import { sql } from 'kysely';
import { kindOf } from '../../media/sniff.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { takeKeyedLocks } from '../../platform/database/take-lock.ts';
import { folderOf, openRegular, pathBelow } from '../../platform/files/below.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { setFilm } from '../assets/film.ts';
import { discard, receive } from '../assets/receive.ts';
import { takeFilmFor } from '../live-photos/lone-film.ts';
import { type Marks, MOST_FILM_BYTES, noMarks, pairFolder, readMarks } from '../live-photos/pair.ts';
import { fail, reasonOf, type Scan, storeAll } from './examine.ts';
import { mayBeFilm } from './film-files.ts';
import { type KnownFile, keyOfPath } from './known.ts';
import { LeaseLost } from './lease.ts';
import { type FoundFile, idsOfPaths, insertFiles, insertRows } from './store.ts';
import { textOf } from './walk.ts';

/** The asset of a photo beside a film. */
interface Photo {
  path: Buffer;
  id: string;
  hash: string;
  film_hash: string | null;
}

/** Returns the assets of photos with the names of these films. */
async function photosBeside({ deps, root }: Scan, films: readonly FoundFile[]): Promise<Photo[]> {
  const bases = films.map(({ path }) => path.subarray(0, path.lastIndexOf(0x2e)));
  const starts = bases.map((base) => Buffer.concat([base, Buffer.from('.')]));
  const ends = bases.map((base) => Buffer.concat([base, Buffer.from('/')]));
  const { rows } = await sql<Photo>`
    select distinct f.path, a.id, a.file_hash as hash, a.film_hash
    from unnest(${starts}::bytea[], ${ends}::bytea[]) b (start, stop)
      join root_files f on f.root_id = ${root.id} and f.path >= b.start and f.path < b.stop
      join assets a on a.id = f.asset_id
    where not f.is_sidecar and not f.is_film and f.missing_since is null and a.deleted_at is null`.execute(
    deps.db,
  );
  const hashes = new Set(films.map(({ facts }) => facts.hash));
  return rows.filter(
    ({ path, film_hash }) => isPhotoName(textOf(path)) && (film_hash === null || hashes.has(film_hash)),
  );
}

/** Reads the marks of a film from a copy, because decoders do not get files below a root (ROOT-1). */
async function marksOfFilm({ deps, root }: Scan, { path, facts }: FoundFile): Promise<Marks> {
  const file = await openRegular(pathBelow(root.path, path));
  if (file === null) return noMarks;
  // The stream closes the file.
  const received = await receive(file.createReadStream(), deps.storage, MOST_FILM_BYTES);
  try {
    return received.hash === facts.hash ? await readMarks(deps.metadata, received.path) : noMarks;
  } finally {
    await discard(received.path);
  }
}

interface KnownFilm extends KnownFile, Pick<FoundFile['facts'], 'mime'> {
  extension: string | null;
}

/** Returns the films that are assets and have the names of the photos that the scan has added (ROOT-16). */
async function filmsBeside({ deps, root }: Scan, photos: readonly Buffer[]): Promise<FoundFile[]> {
  const bases = photos.map((path) => path.subarray(0, path.lastIndexOf(0x2e)));
  const starts = bases.map((base) => Buffer.concat([base, Buffer.from('.')]));
  const ends = bases.map((base) => Buffer.concat([base, Buffer.from('/')]));
  const { rows } = await sql<KnownFilm>`
    select distinct f.id, f.path, f.is_sidecar, f.is_film, f.size_bytes, f.modified_us, f.device, f.hash, f.asset_id,
      false as is_missing, b.mime, b.extension
    from unnest(${starts}::bytea[], ${ends}::bytea[]) s (start, stop)
      join root_files f on f.root_id = ${root.id} and f.path >= s.start and f.path < s.stop
      join files b on b.hash = f.hash
    where not f.is_sidecar and not f.is_film and f.missing_since is null and f.asset_id is not null`.execute(
    deps.db,
  );
  return rows.flatMap(({ mime, extension, ...known }) => {
    const { path, hash, size_bytes: sizeBytes, modified_us: modifiedUs, device } = known;
    const facts = { hash, sizeBytes, modifiedUs, device, mime, extension, kind: kindOf(mime) };
    return mayBeFilm({ path, facts, known: null }) ? [{ path, facts, known }] : [];
  });
}

interface Pair {
  photo: Photo;
  film: FoundFile;
}

async function findPairs(scan: Scan, films: readonly FoundFile[], photos: readonly Photo[]): Promise<Pair[]> {
  const { storage, metadata } = scan.deps;
  const nameOf = (path: Buffer) => basename(textOf(path));
  const pairs = await pairFolder(
    {
      files: photos.map((photo) => ({ name: nameOf(photo.path), photo })),
      marksOf: ({ photo }) =>
        storage.withLocalFile(originalKey(photo.hash), (path) => readMarks(metadata, path)),
    },
    {
      files: films.map((film) => ({ name: nameOf(film.path), film })),
      marksOf: ({ film }) => marksOfFilm(scan, film),
    },
  );
  return pairs.map(([{ photo }, { film }]) => ({ photo, film }));
}

/** Makes a film below the root that of an asset, unless it is one that somebody has edited or used. */
async function attachFilm({ deps, root, owner }: Scan, tx: Tx, { photo, film }: Pair): Promise<void> {
  const { path, facts, known } = film;
  await takeKeyedLocks(tx, 'file', [facts.hash]);
  if (known !== null && known.asset_id !== null) {
    if ((await takeFilmFor(tx, owner.ref, known.asset_id, photo.id)) === null) return;
  }
  await insertFiles(tx, [film]);
  await setFilm(tx, deps, photo.id, facts);
  // The row of the path that the film had before it was moved with its photo.
  await sql`delete from root_files where root_id = ${root.id} and asset_id = ${photo.id} and is_film`.execute(
    tx,
  );
  await insertRows(tx, root.id, [{ path, facts, assetId: photo.id, isFilm: true }]);
}

/** Pairs the films of one folder. Returns those without a photo. */
async function pairFilms(scan: Scan, films: readonly FoundFile[]): Promise<FoundFile[]> {
  const photos = await photosBeside(scan, films);
  if (photos.length === 0) return [...films];
  const pairs = await findPairs(scan, films, photos);
  for (const pair of pairs) {
    const ids = await scan.deps.db.transaction().execute(async (tx) => {
      await scan.lease.hold(tx);
      await attachFilm(scan, tx, pair);
      return idsOfPaths(tx, scan.root.id, [pair.film.path]);
    });
    for (const id of ids) scan.seen.add(id);
  }
  const paired = new Set(pairs.map(({ film }) => film));
  return films.filter((film) => !paired.has(film));
}

/** Films of one transaction. */
const PART = 500;

/**
 * Stores the films that the walk has found, once the photos are stored: as films of the photos that they belong to, otherwise
 * as assets (ROOT-16).
 */
export async function storeFilms(scan: Scan): Promise<void> {
  const waiting = scan.films;
  for (let at = 0; at < scan.photos.length; at += PART)
    waiting.push(...(await filmsBeside(scan, scan.photos.slice(at, at + PART))));
  scan.films = [];
  scan.photos = [];
  const alone: FoundFile[] = [];
  for (const [, films] of Map.groupBy(waiting, ({ path }) => keyOfPath(folderOf(path)))) {
    try {
      alone.push(...(await pairFilms(scan, films)));
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      for (const { path } of films) fail(scan, path, reasonOf(error));
    }
  }
  const added = alone.filter(({ known }) => known === null);
  for (let at = 0; at < added.length; at += PART) await storeAll(scan, added.slice(at, at + PART));
}
