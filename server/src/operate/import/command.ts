import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DefaultSensitivity } from '@vitrine/contract/appearance';
import type { AssetFields } from '@vitrine/contract/assets';
import { foldName } from '@vitrine/contract/names';
import { isSubtitleName, sidecarMatches, stemOf } from '@vitrine/contract/sidecars';
import { sql } from 'kysely';
import { type Logger, pino } from 'pino';
import { Compile } from 'typebox/compile';
import { secretsOf } from '../../core/config/known-secrets.ts';
import { type Config, ConfigError } from '../../core/config.ts';
import type { Deps } from '../../core/deps.ts';
import { type OpenDatabase, openDatabase } from '../../platform/database/open.ts';
import type { Database } from '../../platform/database/pool.ts';
import { safeLogForm } from '../../platform/http/log-entries.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { enterLibrary } from '../library-place.ts';
import { openLibraryStorage } from '../storage/open.ts';
import { postFolder } from './post-folder.ts';
import { progressBar } from './progress.ts';
import { attachFound, storeFound } from './store.ts';
import { type FoundFile, walk } from './walk.ts';

interface Failure {
  path: string;
  reason: string;
}

interface Summary {
  stored: number;
  skipped: number;
  posts: number;
  /** Number of files that became subtitles of a video in the same folder. */
  subtitles: number;
  failures: Failure[];
  stopped: boolean;
}

/**
 * Returns the owner of the new assets: the named account, or the oldest account with the administrator role. Throws a
 * ConfigError if there is none.
 */
async function findOwner(db: Database, username: string | undefined): Promise<number> {
  const rows =
    username === undefined
      ? await db
          .selectFrom('users as u')
          .innerJoin('roles as r', 'r.id', 'u.role_id')
          .select('u.ref')
          .where('r.code', '=', 'admin')
          .orderBy('u.ref')
          .limit(sql.lit(1))
          .execute()
      : await db.selectFrom('users').select('ref').where('username_key', '=', foldName(username)).execute();
  const ref = rows[0]?.ref;
  if (ref !== undefined) return ref;
  throw new ConfigError(
    username === undefined
      ? 'the library has no administrator yet; start it and set it up'
      : `no user ${username}`,
  );
}

async function countPending(db: Database, ownerRef: number): Promise<number> {
  const { rows } = await sql<{ pending: number }>`select count(*) as pending from assets
    where processing_status = 'pending' and owner_user_ref = ${ownerRef}`.execute(db);
  return rows[0]?.pending ?? 0;
}

/**
 * Runs `work` over the items, with as many in parallel as there are cores, until none is left or `stopped` returns
 * true.
 */
async function eachAtOnce<T>(items: readonly T[], stopped: () => boolean, work: (item: T) => Promise<void>) {
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) {
      if (stopped()) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns a function that finds the assets in the folder of a subtitle file that it may belong to, best match first.
 */
function sidecarTargets(files: readonly FoundFile[], assetOf: ReadonlyMap<string, string>) {
  const place = (folder: string, stem: string) => `${folder}/${stem}`;
  const beside = Map.groupBy(files, ({ folder, name }) => place(folder, stemOf(name)));
  return ({ name, folder }: FoundFile): { assetId: string; lang: string }[] =>
    sidecarMatches(name).flatMap(({ stem, lang }) =>
      (beside.get(place(folder, stem)) ?? [])
        .flatMap(({ path }) => assetOf.get(path) ?? [])
        .map((assetId) => ({ assetId, lang })),
    );
}

/** Stores the files and waits for their previews. Posts each folder if requested. */
async function importFiles(
  deps: Deps,
  ownerRef: number,
  files: readonly FoundFile[],
  options: { post: boolean; fields: Pick<AssetFields, 'sensitivity'>; stopped: () => boolean },
): Promise<Summary> {
  const { db } = deps;
  const summary: Summary = { stored: 0, skipped: 0, posts: 0, subtitles: 0, failures: [], stopped: false };
  const assetOf = new Map<string, string>();
  const pathOf = new Map<string, string>();
  const bar = progressBar(files.length);
  let waiting = 0;
  const shown = () =>
    Math.max(0, summary.stored + summary.skipped + summary.subtitles + summary.failures.length - waiting);
  const timer = setInterval(() => {
    void countPending(db, ownerRef).then((pending) => {
      waiting = Math.min(pending, summary.stored);
      bar.show(shown());
    });
  }, 500);
  try {
    const targetsOf = sidecarTargets(files, assetOf);
    const storeEach = async (file: FoundFile) => {
      try {
        if ((await attachFound(deps, ownerRef, file, targetsOf(file))) !== null) {
          summary.subtitles += 1;
          return;
        }
        const stored = await storeFound(deps, ownerRef, file, options.fields);
        assetOf.set(file.path, stored.assetId);
        if (stored.skipped) summary.skipped += 1;
        else {
          summary.stored += 1;
          pathOf.set(stored.assetId, file.path);
        }
      } catch (error) {
        summary.failures.push({ path: file.path, reason: reasonOf(error) });
      }
    };
    // Stores subtitles last, because they are attached to videos.
    const { later = [], first = [] } = Object.groupBy(files, ({ name }) =>
      isSubtitleName(name) ? 'later' : 'first',
    );
    await eachAtOnce(first, options.stopped, storeEach);
    await eachAtOnce(later, options.stopped, storeEach);
    if (options.post && !options.stopped()) {
      const folders = Map.groupBy(files, (file) => file.folder);
      for (const [folder, inFolder] of folders) {
        const ids = inFolder.flatMap((file) => assetOf.get(file.path) ?? []);
        summary.posts += await postFolder(
          db,
          ownerRef,
          folder === '' ? resolve(inFolder[0]?.path ?? '', '..') : folder,
          ids,
        );
      }
    }
    while (!options.stopped() && (await countPending(db, ownerRef)) > 0) await sleep(100);
    waiting = 0;
    bar.show(shown());
  } finally {
    clearInterval(timer);
    bar.stop();
  }
  const failed = await db
    .selectFrom('assets')
    .select(['id', 'processing_error'])
    .where('owner_user_ref', '=', ownerRef)
    .where('processing_status', '=', 'failed')
    .execute();
  for (const { id, processing_error } of failed) {
    const path = pathOf.get(id);
    if (path !== undefined)
      summary.failures.push({ path, reason: `stored, not rendered: ${processing_error}` });
  }
  summary.stopped = options.stopped();
  return summary;
}

function printSummary(summary: Summary): void {
  const posts = summary.posts === 0 ? '' : `, ${summary.posts} posts made`;
  const subtitles = summary.subtitles === 0 ? '' : `, ${summary.subtitles} attached as subtitles`;
  console.log(
    `${summary.stored} imported, ${summary.skipped} already present${subtitles}${posts}, ${summary.failures.length} failed`,
  );
  for (const { path, reason } of summary.failures) console.log(`  ${path}: ${reason}`);
  if (summary.stopped) console.log('stopped; run it again to go on where it was');
}

function readArguments(args: string[]) {
  try {
    const options = {
      user: { type: 'string' },
      post: { type: 'boolean', default: false },
      sensitivity: { type: 'string' },
    } as const;
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new ConfigError(reasonOf(error).split('\n')[0]);
  }
}

const isSensitivity = Compile(DefaultSensitivity);

/** Returns the fields of the new assets. Without `--sensitivity` the library's default applies. */
function readSensitivity(given: string | undefined): Pick<AssetFields, 'sensitivity'> {
  if (given === undefined) return {};
  if (!isSensitivity.Check(given))
    throw new ConfigError(`--sensitivity is posts, org, public or restricted, not ${given}`);
  return { sensitivity: given };
}

/** The parts of a running service that an import works with. */
interface ImportParts {
  openDeps(db: Database, storage: Storage, config: Config, log: Logger): Promise<Deps>;
  startWorker(deps: Deps, database: OpenDatabase): Promise<{ stop(): Promise<void> }>;
}

/**
 * `vitrine import DIR [--user NAME] [--post] [--sensitivity WHO]`: imports a folder of any size as assets, and with
 * --post also as posts.
 */
export async function importCommand(
  config: Config,
  args: string[],
  { openDeps, startWorker }: ImportParts,
): Promise<void> {
  const { values, positionals } = readArguments(args);
  const fields = readSensitivity(values.sensitivity);
  const [directory, more] = positionals;
  if (directory === undefined || more !== undefined)
    throw new ConfigError('name a directory: vitrine import DIR');
  enterLibrary(config);
  const root = resolve(directory);
  const found = await stat(root).catch(() => null);
  if (found?.isDirectory() !== true) throw new ConfigError(`${root} is not a directory`);

  const database = await openDatabase(config, { join: true, log: (message) => console.error(message) });
  let stopped = false;
  process.once('SIGINT', () => {
    stopped = true;
  });
  try {
    const storage = await openLibraryStorage(config);
    const deps = await openDeps(
      database.db,
      storage,
      config,
      pino({ level: 'error', ...safeLogForm(secretsOf(config)) }),
    );
    const ownerRef = await findOwner(database.db, values.user);
    // The import waits for its previews, so it renders them whatever jobs the service here runs.
    const worker = await startWorker(deps, database);
    try {
      const files = await Array.fromAsync(walk(root));
      const summary = await importFiles(deps, ownerRef, files, {
        post: values.post,
        fields,
        stopped: () => stopped,
      });
      printSummary(summary);
      if (summary.failures.length > 0) process.exitCode = 2;
    } finally {
      await worker.stop();
      await Promise.all([deps.decoders.close(), deps.metadata.close()]);
    }
  } finally {
    await database.close();
  }
}
