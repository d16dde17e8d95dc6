import { randomUUID } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { basename } from 'node:path/posix';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { keysOf } from '../../media/ladder.ts';
import { isRenderable, MAKERS_VERSION } from '../../media/renderable.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { takeKeyedLocks } from '../../platform/database/take-lock.ts';
import { pathBelow } from '../../platform/files/below.ts';
import { isMissing } from '../../platform/files/directory-tree.ts';
import { enqueueNew } from '../assets/decoding-jobs.ts';
import { setFilm } from '../assets/film.ts';
import { copyEmbedded, firstState, titleFrom, typeOfKind } from '../assets/insert.ts';
import { baseName } from '../assets/receive.ts';
import { seedAlike } from '../fields/values/seed.ts';
import type { RootRow } from '../root-files/root.ts';
import { type KnownFile, keyOfPath } from './known.ts';
import type { FileFacts } from './read-file.ts';
import { addVersionOf } from './version.ts';
import { textOf } from './walk.ts';

/** A file that is new or has changed. */
export interface FoundFile {
  /** Relative to the root. */
  path: Buffer;
  facts: FileFacts;
  known: KnownFile | null;
}

/** What became of files. */
export interface Stored {
  added: { id: string; path: string }[];
  changed: number;
  moved: number;
}

/** A root that is being scanned, on behalf of its owner. */
export interface Scanning {
  root: RootRow;
  owner: SignedIn;
  /** Ids of the known files that the scan has found. */
  seen: Set<number>;
}

/** An asset whose file may have been moved: `file` is where it was, null for an asset of a root that was removed. */
interface Candidate {
  asset_id: string;
  hash: string;
  file: number | null;
  path: Buffer | null;
}

/**
 * Returns the assets with these hashes whose files may have been moved. A first scan fills tables faster than PostgreSQL
 * analyzes them, and the planner would read all rows of the root for every part. `offset 0` keeps each subquery separate,
 * so that it looks up the hash in its index before the other conditions apply.
 */
async function candidatesFor(
  tx: Tx,
  { root, owner, seen }: Scanning,
  hashes: readonly string[],
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    select c.asset_id, c.hash, c.file, c.path
    from (select distinct unnest(${[...hashes]}::text[]) as hash) h, lateral (
      select f.asset_id, f.hash, f.id as file, f.path from (
        select * from root_files where hash = h.hash offset 0) f
        where f.root_id = ${root.id} and f.asset_id is not null and not f.is_film
      union all
      select a.id, a.file_hash, null, null from (
        select * from assets where file_hash = h.hash offset 0) a
        where a.root_id is null and a.missing_since is not null and a.owner_user_ref = ${owner.ref} and a.deleted_at is null) c
    order by c.file`.execute(tx);
  return rows.filter(({ file }) => file === null || !seen.has(file));
}

/** Returns whether nothing is at the earlier path of a candidate, so that its file was moved and not copied. */
async function isFree(root: RootRow, { path }: Candidate): Promise<boolean> {
  if (path === null) return true;
  return lstat(pathBelow(root.path, path)).then(
    () => false,
    (error: unknown) => isMissing(error),
  );
}

/** Pairs new files with the assets whose files were moved there (ROOT-5). */
async function findMoves(
  tx: Tx,
  scanning: Scanning,
  files: readonly FoundFile[],
): Promise<Map<FoundFile, Candidate>> {
  const moves = new Map<FoundFile, Candidate>();
  const candidates = await candidatesFor(
    tx,
    scanning,
    files.map(({ facts }) => facts.hash),
  );
  const used = new Set<string>();
  for (const file of files) {
    for (const candidate of candidates) {
      if (candidate.hash !== file.facts.hash || used.has(candidate.asset_id)) continue;
      if (!(await isFree(scanning.root, candidate))) continue;
      used.add(candidate.asset_id);
      moves.set(file, candidate);
      break;
    }
  }
  return moves;
}

function nameOf(path: string): string {
  return baseName(basename(path));
}

/** Gives an asset the new path of its file, and the new name if people have not given it another title. */
async function moveAsset(
  tx: Tx,
  { root }: Scanning,
  { path, facts }: FoundFile,
  { asset_id, file }: Candidate,
): Promise<void> {
  const text = textOf(path);
  const name = nameOf(text);
  const { rows } = await sql<{ file_name: string }>`select file_name from assets where id = ${asset_id}
    for no key update`.execute(tx);
  const before = rows[0]?.file_name ?? name;
  await sql`update assets set root_id = ${root.id}, root_path = ${text}, missing_since = null, file_name = ${name},
      title = case when title = ${titleFrom(before)} then ${titleFrom(name)} else title end
    where id = ${asset_id}`.execute(tx);
  if (file !== null) await sql`delete from root_files where id = ${file}`.execute(tx);
  await insertRows(tx, root.id, [{ path, facts, assetId: asset_id }]);
}

interface NewRow {
  path: Buffer;
  facts: FileFacts;
  assetId: string;
  isFilm?: true;
}

/** Records which files have which bytes. The row of a path may exist, without its asset. */
export async function insertRows(tx: Tx, rootId: string, rows: readonly NewRow[]): Promise<void> {
  await sql`insert into root_files (root_id, path, size_bytes, modified_us, device, hash, asset_id, is_film)
    select ${rootId}, x.path, x.size, x.modified, x.device, x.hash, x.asset, x.film
    from unnest(${rows.map(({ path }) => path)}::bytea[], ${rows.map(({ facts }) => facts.sizeBytes)}::bigint[],
      ${rows.map(({ facts }) => facts.modifiedUs)}::bigint[], ${rows.map(({ facts }) => facts.device)}::text[],
      ${rows.map(({ facts }) => facts.hash)}::text[], ${rows.map(({ assetId }) => assetId)}::uuid[],
      ${rows.map(({ isFilm }) => isFilm === true)}::boolean[]) x (path, size, modified, device, hash, asset, film)
    on conflict (root_id, path) do update set size_bytes = excluded.size_bytes, modified_us = excluded.modified_us,
      device = excluded.device, hash = excluded.hash, asset_id = excluded.asset_id, is_film = excluded.is_film, missing_since = null`.execute(
    tx,
  );
}

/** Records the bytes that the library does not know yet. It has no copy of them. */
export async function insertFiles(tx: Tx, files: readonly FoundFile[]): Promise<void> {
  const facts = [...new Map(files.map((file) => [file.facts.hash, file.facts])).values()];
  await sql`insert into files (hash, size_bytes, mime, extension, makers_version, in_place)
    select x.hash, x.size, x.mime, x.extension, ${MAKERS_VERSION}, true
    from unnest(${facts.map(({ hash }) => hash)}::text[], ${facts.map(({ sizeBytes }) => sizeBytes)}::bigint[],
      ${facts.map(({ mime }) => mime)}::text[], ${facts.map(({ extension }) => extension)}::text[])
      x (hash, size, mime, extension)
    order by x.hash on conflict (hash) do nothing`.execute(tx);
}

interface NewAsset extends NewRow {
  text: string;
  waits: boolean;
}

/** Inserts assets in one statement, in the order of the files. */
async function insertAssets(
  { ladder }: Pick<Deps, 'ladder'>,
  tx: Tx,
  { root, owner }: Scanning,
  files: readonly FoundFile[],
): Promise<NewAsset[]> {
  const rows = files.map(({ path, facts }) => ({ path, facts, text: textOf(path), assetId: randomUUID() }));
  const names = rows.map(({ text }) => nameOf(text));
  const { rows: inserted } = await sql<{ id: string; processing_status: string }>`
    insert into assets (id, owner_user_ref, title, asset_type, sensitivity, file_hash, file_name, team_id, state_id,
      processing_status, root_id, root_path)
    select x.id, ${owner.ref}, x.title, x.type, ${root.sensitivity}, x.hash, x.name, ${root.team_id}::uuid, ${firstState},
      case when x.renderable and not f.renditions ?& ${keysOf(ladder)}::text[] then 'pending' else 'ready' end,
      ${root.id}, x.path
    from unnest(${rows.map(({ assetId }) => assetId)}::uuid[], ${names.map(titleFrom)}::text[], ${names}::text[],
      ${rows.map(({ facts }) => typeOfKind[facts.kind])}::integer[], ${rows.map(({ facts }) => facts.hash)}::text[],
      ${rows.map(({ facts }) => isRenderable(facts.mime))}::boolean[], ${rows.map(({ text }) => text)}::text[])
      x (id, title, name, type, hash, renderable, path)
      join files f on f.hash = x.hash
    returning id, processing_status`.execute(tx);
  const waiting = new Set(inserted.flatMap((row) => (row.processing_status === 'pending' ? [row.id] : [])));
  return rows.map((row) => ({ ...row, waits: waiting.has(row.assetId) }));
}

/**
 * Gives new assets the defaults of fields. Those of one type have the same ones: they are found once for each type and
 * copied.
 */
async function seedDefaults(tx: Tx, owner: SignedIn, assets: readonly NewAsset[]): Promise<void> {
  for (const [, ofKind] of Map.groupBy(assets, ({ facts }) => facts.kind)) {
    const [first, ...others] = ofKind.map(({ assetId }) => assetId);
    if (first !== undefined) await seedAlike(tx, owner.ref, first, others);
  }
}

async function addAssets(
  deps: Pick<Deps, 'ladder'>,
  tx: Tx,
  scanning: Scanning,
  files: readonly FoundFile[],
): Promise<NewAsset[]> {
  if (files.length === 0) return [];
  const assets = await insertAssets(deps, tx, scanning, files);
  await insertRows(tx, scanning.root.id, assets);
  await seedDefaults(tx, scanning.owner, assets);
  for (const { assetId, facts, waits } of assets)
    if (!waits && /^(video|audio)\//.test(facts.mime)) await copyEmbedded(tx, assetId, facts.hash);
  await enqueueNew(
    tx,
    scanning.owner.ref,
    assets.map(({ assetId, facts, waits }) => ({ id: assetId, hash: facts.hash, mime: facts.mime, waits })),
  );
  return assets;
}

/** Records that files have another time, or were seen on another device, with the same bytes. */
export async function touchRows(
  tx: Tx,
  files: readonly { id: number; state: Pick<FileFacts, 'modifiedUs' | 'device'> }[],
): Promise<void> {
  if (files.length === 0) return;
  await sql`update root_files f set modified_us = x.modified, device = x.device
    from unnest(${files.map(({ id }) => id)}::bigint[], ${files.map(({ state }) => state.modifiedUs)}::bigint[],
      ${files.map(({ state }) => state.device)}::text[]) x (id, modified, device) where f.id = x.id`.execute(
    tx,
  );
}

/** Gives the asset of a known file its new bytes, as a version or as its film. Returns false if they are of another kind. */
async function replaceBytes(
  deps: Pick<Deps, 'ladder'>,
  tx: Tx,
  scanning: Scanning,
  { path, facts, known }: FoundFile & { known: KnownFile },
): Promise<boolean> {
  const { asset_id, is_film } = known;
  if (asset_id === null) return false;
  if (!is_film)
    return addVersionOf(deps, tx, scanning.owner, asset_id, { ...facts, name: nameOf(textOf(path)) });
  if (facts.kind !== 'video') return false;
  await setFilm(tx, deps, asset_id, facts);
  return true;
}

/** Stores the new bytes of a known file as a version of its asset, or as a new asset if it is of another kind. */
async function storeChanged(
  deps: Pick<Deps, 'ladder'>,
  tx: Tx,
  scanning: Scanning,
  file: FoundFile & { known: KnownFile },
): Promise<FoundFile[]> {
  const { facts, known } = file;
  if (!(await replaceBytes(deps, tx, scanning, file))) return [file];
  await sql`update root_files set size_bytes = ${facts.sizeBytes}, modified_us = ${facts.modifiedUs},
      device = ${facts.device}, hash = ${facts.hash}, missing_since = null where id = ${known.id}`.execute(
    tx,
  );
  if (!known.is_film)
    await sql`update assets set missing_since = null where id = ${known.asset_id} and missing_since is not null`.execute(
      tx,
    );
  return [];
}

/** Stores what a scan has found, in its transaction: new files, moved ones, and new bytes of known ones. */
export async function storeFound(
  deps: Pick<Deps, 'ladder'>,
  tx: Tx,
  scanning: Scanning,
  files: readonly FoundFile[],
): Promise<Stored> {
  await takeKeyedLocks(
    tx,
    'file',
    files.map(({ facts }) => facts.hash),
  );
  await insertFiles(tx, files);
  const isSame = ({ known, facts }: FoundFile) => known !== null && known.hash === facts.hash;
  await touchRows(
    tx,
    files.flatMap((file) =>
      file.known !== null && isSame(file) ? [{ id: file.known.id, state: file.facts }] : [],
    ),
  );
  const fresh: FoundFile[] = [];
  let changed = 0;
  for (const file of files) {
    const { known } = file;
    if (known === null) fresh.push(file);
    else if (!isSame(file)) {
      const left = await storeChanged(deps, tx, scanning, { ...file, known });
      fresh.push(...left);
      changed += 1 - left.length;
    }
  }
  const moves = await findMoves(
    tx,
    scanning,
    fresh.filter(({ known }) => known === null),
  );
  for (const [file, candidate] of moves) await moveAsset(tx, scanning, file, candidate);
  const assets = await addAssets(
    deps,
    tx,
    scanning,
    fresh.filter((file) => !moves.has(file)),
  );
  return {
    added: assets.map(({ assetId, text }) => ({ id: assetId, path: text })),
    changed,
    moved: moves.size,
  };
}

/** Returns the ids of the rows of these paths, which a scan has just written. */
export async function idsOfPaths(tx: Tx, rootId: string, paths: readonly Buffer[]): Promise<number[]> {
  const { rows } = await sql<{ id: number; path: Buffer }>`select id, path from root_files
    where root_id = ${rootId} and path = any(${[...paths]}::bytea[])`.execute(tx);
  const wanted = new Set(paths.map(keyOfPath));
  return rows.flatMap(({ id, path }) => (wanted.has(keyOfPath(path)) ? [id] : []));
}
