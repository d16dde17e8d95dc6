import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pLimit from 'p-limit';
import type { Deps } from '../../core/deps.ts';
import type { Rung } from '../../media/ladder.ts';
import type { RenderOutcome } from '../../media/raster.ts';
import type { Rendering } from '../../media/render-file.ts';
import { isRenderable, previewKind } from '../../media/renderable.ts';
import type { Database } from '../../platform/database/pool.ts';
import { hasRoom } from '../../platform/storage/room.ts';
import { stageFile } from './insert.ts';
import { prefixesOf, stageFiles } from './keep-renditions.ts';
import { type Ladder, readLadder } from './previews/ladder.ts';
import { discard, type Received } from './receive.ts';

/** Renditions that were made before their bytes are stored, in a directory of their own. */
export interface MadeAhead extends Rendering {
  ladder: Extract<RenderOutcome, { outcome: 'rendered' }>;
  /** The ladder that they are of. */
  version: number;
  rungs: readonly Rung[];
  directory: string;
}

/** Received bytes that are about to be stored. `made` is null until they are rendered, and if a job renders them. */
export interface PreparedFile {
  received: Received;
  made: MadeAhead | null;
}

/** Returns those of these hashes whose bytes the library has. */
export async function knownHashes(db: Database, hashes: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ hash: string }>`select hash from files
    where hash = any(${[...new Set(hashes)]}::text[])`.execute(db);
  return new Set(rows.map(({ hash }) => hash));
}

/** Whether previews of a type take a moment. Jobs render the others, which a caller should not wait for. */
function isQuick(mime: string): boolean {
  return isRenderable(mime) && (previewKind(mime) === 'picture' || mime === 'text/plain');
}

/**
 * Renders received bytes before they are stored, in the turn of this owner. Returns null for what jobs render: files that take
 * long, and those that could not be rendered for any reason, about which the job decides.
 */
async function renderAhead(
  { storage, decoders }: Pick<Deps, 'storage' | 'decoders'>,
  { path, mime, hash }: Received,
  { version, rungs }: Ladder,
  owner: number,
): Promise<MadeAhead | null> {
  if (!isQuick(mime) || !(await hasRoom(storage))) return null;
  const directory = await mkdtemp(join(storage.incomingDir, 'render-ahead-'));
  try {
    const input = { path, mime, rungs, outDir: directory };
    const rendering = await decoders.run(previewKind(mime), String(owner), 'ladder', input);
    const { ladder, extras, subtitles = [] } = rendering;
    if (ladder.outcome === 'rendered' && subtitles.length === 0) {
      await stageFiles(storage, hash, extras);
      await stageFiles(
        storage,
        hash,
        ladder.renditions,
        prefixesOf({ version, moment: null, made: '' }).rungs,
      );
      return { ...rendering, ladder, version, rungs, directory };
    }
  } catch {
    // The job meets the same fault and records it, or succeeds.
  }
  await rm(directory, { recursive: true, force: true });
  return null;
}

/** How many files are handled concurrently: the next one is handed over while decoders are busy. */
const AT_ONCE = availableParallelism() + 1;

/**
 * Renders those of these bytes that the library does not have, each once, and stages all of them. Bytes that are `underWay` will
 * be stored before these.
 */
export async function renderNew(
  deps: Pick<Deps, 'db' | 'storage' | 'decoders'>,
  files: readonly PreparedFile[],
  { owner, underWay, isStopped }: { owner: number; underWay: ReadonlySet<string>; isStopped(): boolean },
): Promise<void> {
  const known = await knownHashes(
    deps.db,
    files.map(({ received }) => received.hash),
  );
  const ladder = await readLadder(deps.db);
  await pLimit(AT_ONCE).map(files, async (file) => {
    const { received } = file;
    await stageFile(deps.storage, received);
    const { hash } = received;
    if (known.has(hash) || underWay.has(hash) || isStopped()) return;
    known.add(hash);
    file.made = await renderAhead(deps, received, ladder, owner);
  });
}

/** Removes what is left of prepared files, stored or not. */
export async function discardPrepared({ received, made }: PreparedFile): Promise<void> {
  await discard(received.path);
  if (made !== null) await rm(made.directory, { recursive: true, force: true });
}
