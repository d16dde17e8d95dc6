import { rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Deps } from '../../core/deps.ts';
import type { Rung } from '../../media/ladder.ts';
import type { RenderOutcome } from '../../media/raster.ts';
import type { Rendering } from '../../media/render-file.ts';
import { isRenderable, previewKind } from '../../media/renderable.ts';
import type { Database } from '../../platform/database/pool.ts';
import { hasRoom } from '../../platform/storage/room.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { stageFile } from './insert.ts';
import { prefixesOf, stageFiles } from './keep-renditions.ts';
import { type Ladder, readLadder } from './previews/ladder.ts';
import type { Received } from './receive.ts';

/** Renditions that were made before their bytes are stored. */
interface MadeAhead extends Rendering {
  ladder: Extract<RenderOutcome, { outcome: 'rendered' }>;
  /** The ladder that they are of. */
  version: number;
  rungs: readonly Rung[];
}

/** Received bytes that are about to be stored. `made` is null until they are rendered, and if a job renders them. */
export interface PreparedFile {
  received: Received;
  made: MadeAhead | null;
}

/** Returns the hashes among these whose bytes are stored. */
export async function knownHashes(db: Database, hashes: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ hash: string }>`select hash from files
    where hash = any(${[...new Set(hashes)]}::text[])`.execute(db);
  return new Set(rows.map(({ hash }) => hash));
}

/** Returns whether previews of a type are made quickly. Jobs render other types, so that the caller does not wait for them. */
function isQuick(mime: string): boolean {
  return isRenderable(mime) && (previewKind(mime) === 'picture' || mime === 'text/plain');
}

/** Small files are handed to a decoder together, because handing over takes a third as long as rendering one. */
const MOST_TOGETHER = 8;
const MOST_BYTES_TOGETHER = 2 * 1024 * 1024;

/** Returns files in groups for one decoder each. */
function groupsOf(files: readonly PreparedFile[]): PreparedFile[][] {
  const groups: PreparedFile[][] = [];
  for (const [, ofKind] of Map.groupBy(files, ({ received }) => previewKind(received.mime))) {
    let bytes = Number.POSITIVE_INFINITY;
    for (const file of ofKind) {
      const group = groups.at(-1);
      bytes += file.received.sizeBytes;
      if (group !== undefined && group.length < MOST_TOGETHER && bytes <= MOST_BYTES_TOGETHER)
        group.push(file);
      else {
        groups.push([file]);
        bytes = file.received.sizeBytes;
      }
    }
  }
  return groups;
}

async function stageMade(
  storage: Storage,
  { received }: PreparedFile,
  { extras, ladder, version }: MadeAhead,
): Promise<void> {
  const { rungs } = prefixesOf({ version, moment: null, made: '' });
  await stageFiles(storage, received.hash, extras);
  await stageFiles(storage, received.hash, ladder.renditions, rungs);
}

/**
 * Renders a group of files in the turn of this owner. Leaves files that cannot be rendered to
 * jobs, which record the reason.
 */
async function renderGroup(
  { storage, decoders }: Pick<Deps, 'storage' | 'decoders'>,
  group: readonly PreparedFile[],
  { version, rungs }: Ladder,
  { owner, outDir }: { owner: number; outDir: string },
): Promise<void> {
  const kind = previewKind(group[0]?.received.mime ?? '');
  const files = group.map(({ received: { path, mime } }) => ({ path, mime }));
  await mkdir(outDir);
  const renderings = await decoders
    .run(kind, String(owner), 'ladders', { files, rungs, outDir })
    // The jobs meet the same fault and record it, or succeed.
    .catch(() => []);
  for (const [place, file] of group.entries()) {
    const rendering = renderings[place] ?? null;
    if (rendering?.ladder.outcome !== 'rendered' || (rendering.subtitles ?? []).length > 0) continue;
    const made = { ...rendering, ladder: rendering.ladder, version, rungs };
    await stageMade(storage, file, made);
    file.made = made;
  }
}

/** How many groups are handled concurrently: the next one is handed over while decoders are busy. */
const AT_ONCE = availableParallelism() + 1;

/** The order in which groups of files are rendered, also those of several calls of `renderNew`: earlier ones first. */
export type RenderTurns = LimitFunction;

export const renderTurns = (): RenderTurns => pLimit(AT_ONCE);

interface RenderOptions {
  owner: number;
  /** Hashes of bytes that will be stored before these. */
  underWay: ReadonlySet<string>;
  isStopped(): boolean;
  turns: RenderTurns;
}

/**
 * Renders those of these bytes that the library does not have, each once, and stages all of them. Leaves to jobs files that take
 * long. Returns the directory of the renditions, which the caller removes.
 */
export async function renderNew(
  deps: Pick<Deps, 'db' | 'storage' | 'decoders'>,
  files: readonly PreparedFile[],
  { owner, underWay, isStopped, turns }: RenderOptions,
): Promise<string> {
  const { db, storage } = deps;
  await pLimit(AT_ONCE).map(files, ({ received }) => stageFile(storage, received));
  const directory = await mkdtemp(join(storage.incomingDir, 'render-ahead-'));
  // Decoders must be able to enter it.
  await chmod(directory, 0o711);
  if (!(await hasRoom(storage))) return directory;
  const known = await knownHashes(
    db,
    files.map(({ received }) => received.hash),
  );
  const fresh = files.filter(({ received: { hash, mime } }) => {
    if (known.has(hash) || underWay.has(hash) || !isQuick(mime)) return false;
    known.add(hash);
    return true;
  });
  const ladder = await readLadder(db);
  await turns.map(groupsOf(fresh), async (group, place) => {
    if (!isStopped())
      await renderGroup(deps, group, ladder, { owner, outDir: join(directory, String(place)) });
  });
  return directory;
}

/**
 * Removes the temporary files of prepared files, stored or not, and of their renditions. Synchronously: only commands, which
 * nobody waits for meanwhile, render ahead, and for each of many small files the detour over a thread takes longer than its removal.
 */
export function discardPrepared(files: readonly PreparedFile[], directory: string | null): void {
  for (const { received } of files) rmSync(received.path, { force: true });
  if (directory !== null) rmSync(directory, { recursive: true, force: true });
}
