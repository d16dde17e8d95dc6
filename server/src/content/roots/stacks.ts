import { basename } from 'node:path/posix';
import { type RawBuilder, sql } from 'kysely';
import { folderOf, openRegular, pathBelow } from '../../platform/files/below.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { isBurstName, stacksIn } from '../stacks/series.ts';
import { headBytes, maySeries, noSeries, readSeries, type SeriesMarks } from '../stacks/series-marks.ts';
import { stackFound } from '../stacks/store.ts';
import type { NewExposure, Scan } from './examine.ts';
import { keyOfPath } from './known.ts';
import { textOf } from './walk.ts';

/** A photo or raw file with its asset. */
interface Exposure {
  path: Buffer;
  id: string;
  hash: string;
}

/** New files of one statement, and groups of one transaction. */
const PART = 500;
/** In a folder with more files than these, only those that a scan adds are compared. */
const MOST_COMPARED = 2000;

/** Returns the assets of files in ranges of paths. */
async function assetsIn(
  { deps, root }: Scan,
  ranges: readonly { start: Buffer; stop: Buffer }[],
  isWanted: RawBuilder<boolean> = sql`true`,
): Promise<Exposure[]> {
  const { rows } = await sql<Exposure>`
    select distinct f.path, a.id, f.hash
    from unnest(${ranges.map(({ start }) => start)}::bytea[], ${ranges.map(({ stop }) => stop)}::bytea[]) b (start, stop)
      join root_files f on f.root_id = ${root.id} and f.path >= b.start and f.path < b.stop
      join assets a on a.id = f.asset_id
    where not f.is_sidecar and not f.is_film and f.missing_since is null and a.deleted_at is null and ${isWanted}
    order by f.path limit ${MOST_COMPARED + PART}`.execute(deps.db);
  return rows;
}

/** Returns the assets whose files have the names of these files, with any extension. */
async function assetsBeside(scan: Scan, exposures: readonly NewExposure[]): Promise<Exposure[]> {
  const bases = exposures.map(({ path }) => path.subarray(0, path.lastIndexOf(0x2e)));
  const found: Exposure[] = [];
  for (let at = 0; at < bases.length; at += PART)
    found.push(
      ...(await assetsIn(
        scan,
        bases.slice(at, at + PART).map((base) => ({
          start: Buffer.concat([base, Buffer.from('.')]),
          stop: Buffer.concat([base, Buffer.from('/')]),
        })),
      )),
    );
  return [...new Map(found.map((one) => [keyOfPath(one.path), one])).values()];
}

/** Returns the assets of the files directly in a folder; null if there are too many to compare. */
async function assetsOfFolder(scan: Scan, folder: Buffer): Promise<Exposure[] | null> {
  const start = folder.length === 0 ? folder : Buffer.concat([folder, Buffer.from('/')]);
  const stop = folder.length === 0 ? Buffer.from([0xff]) : Buffer.concat([folder, Buffer.from('0')]);
  const isDirect = sql<boolean>`position('/'::bytea in substring(f.path from ${start.length + 1}::integer)) = 0`;
  const found = await assetsIn(scan, [{ start, stop }], isDirect);
  return found.length > MOST_COMPARED ? null : found;
}

/** Returns whether the beginning of a file may have marks. */
async function mayHaveMarks({ root }: Scan, path: Buffer): Promise<boolean> {
  const file = await openRegular(pathBelow(root.path, path)).catch(() => null);
  if (file === null) return false;
  try {
    const { size } = await file.stat();
    const head = Buffer.alloc(Math.min(size, headBytes(textOf(path))));
    await file.read(head, 0, head.length, 0);
    return maySeries(head);
  } catch {
    return false;
  } finally {
    await file.close();
  }
}

/** Returns a function that reads the marks of a file once, from a copy (ROOT-1). */
function marksOnce(scan: Scan, added: ReadonlyMap<string, NewExposure>) {
  const { storage, metadata } = scan.deps;
  const read = async ({ path, hash }: Exposure): Promise<SeriesMarks> => {
    const may = added.get(keyOfPath(path))?.maySeries ?? (await mayHaveMarks(scan, path));
    if (!may) return noSeries;
    // A folder left in place may be absent.
    return storage
      .withLocalFile(originalKey(hash), (local) => readSeries(metadata, local))
      .catch(() => noSeries);
  };
  const known = new Map<string, Promise<SeriesMarks>>();
  return (file: Exposure): Promise<SeriesMarks> => {
    const key = keyOfPath(file.path);
    const marks = known.get(key) ?? read(file);
    known.set(key, marks);
    return marks;
  };
}

type Added = ReadonlyMap<string, NewExposure>;

const addedBy = (exposures: readonly NewExposure[]): Added =>
  new Map(exposures.map((exposure) => [keyOfPath(exposure.path), exposure]));

/** Returns the groups of these files that belong in one stack (STACK-6) and contain a new file. */
async function groupsAmong(scan: Scan, files: readonly Exposure[], added: Added): Promise<string[][]> {
  const named = files.map((file) => ({ ...file, name: basename(textOf(file.path)) }));
  const stacks = await stacksIn(named, marksOnce(scan, added));
  return stacks.flatMap((stack) =>
    stack.some(({ path }) => added.has(keyOfPath(path))) ? [stack.map(({ id }) => id)] : [],
  );
}

/** Returns the groups of a folder with new files of a burst or a bracket. */
async function seriesOf(scan: Scan, folder: Buffer, exposures: readonly NewExposure[]): Promise<string[][]> {
  const files = (await assetsOfFolder(scan, folder)) ?? (await assetsBeside(scan, exposures));
  return groupsAmong(scan, files, addedBy(exposures));
}

/** Returns the pairs of new files of any folders. */
async function pairsOf(scan: Scan, exposures: readonly NewExposure[]): Promise<string[][]> {
  const added = addedBy(exposures);
  const files = await assetsBeside(scan, exposures);
  const groups: string[][] = [];
  for (const inFolder of Map.groupBy(files, ({ path }) => keyOfPath(folderOf(path))).values())
    groups.push(...(await groupsAmong(scan, inFolder, added)));
  return groups;
}

async function stackAll({ deps, lease }: Scan, groups: readonly string[][]): Promise<void> {
  for (let at = 0; at < groups.length; at += PART) {
    await deps.db.transaction().execute(async (tx) => {
      await lease.hold(tx);
      await stackFound(tx, groups.slice(at, at + PART));
    });
  }
}

const maySeriesIn = (exposures: readonly NewExposure[]) =>
  exposures.some(({ path, maySeries }) => maySeries !== false || isBurstName(textOf(path)));

/** Forgets which files may be unstacked. */
async function forgetUnstacked({ deps, root, lease }: Scan): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    await lease.hold(tx);
    await sql`update roots set unstacked_from = null where id = ${root.id} and unstacked_from is not null`.execute(
      tx,
    );
  });
}

/** Stacks the photos and raw files that the walk has found with the files of their folders that belong to them (ROOT-17). */
export async function stackExposures(scan: Scan): Promise<void> {
  const folders = [...Map.groupBy(scan.exposures, ({ path }) => keyOfPath(folderOf(path))).values()];
  scan.exposures = [];
  for (const inFolder of folders.filter(maySeriesIn)) {
    const [first] = inFolder;
    if (first !== undefined) await stackAll(scan, await seriesOf(scan, folderOf(first.path), inFolder));
  }
  // Together, because most folders have a few files and no series.
  const others = folders.filter((inFolder) => !maySeriesIn(inFolder)).flat();
  for (let at = 0; at < others.length; at += PART)
    await stackAll(scan, await pairsOf(scan, others.slice(at, at + PART)));
  await forgetUnstacked(scan);
}
