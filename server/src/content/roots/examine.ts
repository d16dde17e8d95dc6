import { basename } from 'node:path/posix';
import { isMetadataName, isPhotoName } from '@vitrine/contract/sidecars';
import { sql } from 'kysely';
import pLimit from 'p-limit';
import type { Deps } from '../../core/deps.ts';
import { pathBelow } from '../../platform/files/below.ts';
import { type PathField, valuesOfPath, writePathValues } from '../path-values/path-values.ts';
import { markPresent } from '../root-files/missing.ts';
import { type FileState, isSameState, stateOf } from '../root-files/state.ts';
import { isExposureName } from '../stacks/series.ts';
import { mayBeFilm } from './film-files.ts';
import { findKnown, type KnownFile, keyOfPath } from './known.ts';
import { type Lease, LeaseLost } from './lease.ts';
import { readFound } from './read-file.ts';
import { scanReasons } from './reasons.ts';
import type { FoundSidecar } from './sidecars.ts';
import { type FoundFile, idsOfPaths, type Scanning, storeFound, touchRows } from './store.ts';
import { noteUnstacked } from './unstacked.ts';
import { MOST_PATH_BYTES, textOf } from './walk.ts';

/** Files whose state is read at the same time, and files that are read. */
export const STATES_AT_ONCE = 32;
const READ_AT_ONCE = 6;
/** A file that changed less than this ago may still be written to. */
const SETTLED_MS = 2000;
/** Failures that a report names. */
const MOST_NAMED = 20;
/** A file that was being written is read again after this time. */
const AGAIN_AFTER = sql`now() + interval '5 seconds'`;

export interface ScanCounts {
  files: number;
  added: number;
  changed: number;
  moved: number;
  missing: number;
  returned: number;
  failed: number;
  failures: { path: string; reason: string }[];
}

/** A photo or a raw file that a scan has added. */
export interface NewExposure {
  path: Buffer;
  /** Whether it may be of a burst or a bracket; absent if its beginning has not been read. */
  maySeries?: boolean;
}

/** A scan that runs. */
export interface Scan extends Scanning {
  deps: Deps;
  lease: Lease;
  counts: ScanCounts;
  fields: PathField[];
  sidecars: FoundSidecar[];
  /** New films, which may belong to photos that the walk finds later (ROOT-16). */
  films: FoundFile[];
  /** Paths of new photos, whose films may have been found earlier (ROOT-16). */
  photos: Buffer[];
  /** Paths of new photos and raw files, which are stacked with those beside them (ROOT-17). */
  exposures: NewExposure[];
  /** Names that devices have now, by the names that they had. */
  devices: Map<string, Set<string>>;
  /** Whether all of it is scanned, and not only what has just changed. */
  whole: boolean;
  onProgress(counts: ScanCounts): Promise<void>;
}

export function emptyCounts(): ScanCounts {
  return { files: 0, added: 0, changed: 0, moved: 0, missing: 0, returned: 0, failed: 0, failures: [] };
}

export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EACCES' || code === 'EPERM') return scanReasons.unreadable;
  return error instanceof Error ? error.message : String(error);
}

export function fail({ counts }: Scan, path: Buffer, reason: string): void {
  counts.failed += 1;
  if (counts.failures.length < MOST_NAMED) counts.failures.push({ path: textOf(path), reason });
}

/** A file with its state, before it is read. */
interface Seen {
  path: Buffer;
  state: FileState;
  known: KnownFile | null;
}

/** Returns the files of a part of the walk with their states; those that are gone by now are left out. */
async function lookAt(scan: Scan, paths: readonly Buffer[]): Promise<Seen[]> {
  const { root, deps } = scan;
  const fitting = paths.filter((path) => path.length <= MOST_PATH_BYTES);
  for (const path of paths) if (path.length > MOST_PATH_BYTES) fail(scan, path, scanReasons.pathTooLong);
  const known = await findKnown(deps.db, root.id, fitting);
  const limit = pLimit(STATES_AT_ONCE);
  const states = await limit.map(fitting, async (path) => {
    try {
      return await stateOf(pathBelow(root.path, path));
    } catch (error) {
      fail(scan, path, reasonOf(error));
      return null;
    }
  });
  return fitting.flatMap((path, at) => {
    const state = states[at] ?? null;
    return state === null ? [] : [{ path, state, known: known.get(keyOfPath(path)) ?? null }];
  });
}

/** Notes that a known file was found, and where. */
function noteSeen({ seen, devices }: Scan, { known, state }: Seen): void {
  if (known === null) return;
  seen.add(known.id);
  const names = devices.get(known.device) ?? new Set();
  devices.set(known.device, names.add(state.device));
}

/** Returns whether a known file has the size and time with which it was read. */
function isUnchanged({ known, state }: Seen): boolean {
  return (
    known !== null &&
    isSameState(state, { sizeBytes: known.size_bytes, modifiedUs: known.modified_us, device: known.device })
  );
}

/** Has the folder of a file scanned again, because the file was being written. */
async function readLater({ deps, root }: Scan, path: Buffer): Promise<void> {
  const folder = path.subarray(0, Math.max(path.lastIndexOf(0x2f), 0));
  await sql`insert into root_changes (root_id, folder, due_at) values (${root.id}, ${folder}, ${AGAIN_AFTER})
    on conflict (root_id, folder) do update set due_at = excluded.due_at`.execute(deps.db);
}

/** Returns whether a file that has just changed may still be written to, by a program that pauses. */
function isFresh({ whole }: Scan, { modifiedUs }: FileState): boolean {
  return !whole && Math.abs(Date.now() - modifiedUs / 1000) < SETTLED_MS;
}

/** Reads new and changed files (ROOT-6). */
async function readAll(scan: Scan, files: readonly Seen[]): Promise<FoundFile[]> {
  const limit = pLimit(READ_AT_ONCE);
  const readings = await limit.map(files, async ({ path, state, known }) => {
    try {
      if (isFresh(scan, state)) {
        await readLater(scan, path);
        return [];
      }
      const reading = await readFound(pathBelow(scan.root.path, path), state, scan.deps.storage.incomingDir);
      if (reading.kind === 'changing') await readLater(scan, path);
      return reading.kind === 'read' ? [{ path, facts: reading.facts, known }] : [];
    } catch (error) {
      fail(scan, path, reasonOf(error));
      return [];
    }
  });
  return readings.flat();
}

/** Notes the photos and raw files among new files, which may belong to others beside them. */
function noteExposures(scan: Scan, files: readonly FoundFile[], added: ReadonlySet<string>): void {
  if (added.size === 0) return;
  for (const { path, facts } of files) {
    const text = textOf(path);
    if (!added.has(text)) continue;
    if (isPhotoName(text)) scan.photos.push(path);
    if (isExposureName(text)) scan.exposures.push({ path, maySeries: facts.maySeries === true });
  }
}

/** Stores files in one transaction; if that fails, in halves, so that one file does not keep others out. */
export async function storeAll(scan: Scan, files: readonly FoundFile[]): Promise<void> {
  if (files.length === 0) return;
  const { deps, lease, root } = scan;
  try {
    const { stored, ids } = await deps.db.transaction().execute(async (tx) => {
      await lease.hold(tx);
      if (files.some(({ path }) => isExposureName(textOf(path)))) await noteUnstacked(tx, root.id);
      const made = await storeFound(deps, tx, scan, files);
      const paths = files.map(({ path }) => path);
      return { stored: made, ids: await idsOfPaths(tx, root.id, paths) };
    });
    for (const id of ids) scan.seen.add(id);
    scan.counts.added += stored.added.length;
    scan.counts.changed += stored.changed;
    scan.counts.moved += stored.moved;
    noteExposures(scan, files, new Set(stored.added.map(({ path }) => path)));
    await fillFromPaths(scan, stored.added);
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    const [first] = files;
    if (files.length === 1 && first !== undefined) return fail(scan, first.path, reasonOf(error));
    const middle = Math.ceil(files.length / 2);
    await storeAll(scan, files.slice(0, middle));
    await storeAll(scan, files.slice(middle));
  }
}

/** Gives new assets, which are stored by now, the values of their paths. */
async function fillFromPaths(scan: Scan, added: readonly { id: string; path: string }[]): Promise<void> {
  const { deps, fields } = scan;
  if (fields.length === 0) return;
  for (const { id, path } of added) {
    const name = basename(path);
    const folder = path.slice(0, Math.max(path.length - name.length - 1, 0));
    try {
      await writePathValues(deps.db, id, valuesOfPath(fields, { folder, name }));
    } catch (error) {
      fail(scan, Buffer.from(path), reasonOf(error));
    }
  }
}

/** Records files that are back, and devices that have another name now. */
async function refreshKnown(scan: Scan, files: readonly Seen[]): Promise<void> {
  const back = files.flatMap(({ known }) => (known?.is_missing === true ? [known.id] : []));
  const renamed = files.flatMap(({ known, state }) =>
    known !== null && known.device !== state.device ? [{ id: known.id, state }] : [],
  );
  if (back.length + renamed.length === 0) return;
  await scan.deps.db.transaction().execute(async (tx) => {
    await scan.lease.hold(tx);
    scan.counts.returned += await markPresent(tx, back);
    await touchRows(tx, renamed);
  });
}

/** Compares a part of the walk with what is known. Returns the work that stores what is new, which may wait. */
export async function examine(scan: Scan, paths: readonly Buffer[]): Promise<() => Promise<void>> {
  const files = await lookAt(scan, paths);
  for (const file of files) noteSeen(scan, file);
  const isSidecar = ({ path }: Seen) => isMetadataName(basename(path.toString()));
  const unchanged = files.filter(isUnchanged);
  const others = files.filter((file) => !isUnchanged(file));
  if (scan.root.sidecars !== 'off') scan.sidecars.push(...others.filter(isSidecar));
  const originals = others.filter((file) => !isSidecar(file));
  scan.counts.files += files.filter((file) => !isSidecar(file)).length;
  const found = await readAll(scan, originals);
  scan.films.push(...found.filter(mayBeFilm));
  return async () => {
    await refreshKnown(scan, unchanged);
    await storeAll(
      scan,
      found.filter((file) => !mayBeFilm(file)),
    );
    // Files with the bytes that they had before they were missing.
    await refreshKnown(
      scan,
      originals.filter(({ known }) => known?.is_missing === true),
    );
    await scan.onProgress(scan.counts);
  };
}
