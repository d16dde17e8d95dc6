import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Language } from '@vitrine/contract/languages';
import { sql } from 'kysely';
import { type Logger, pino } from 'pino';
import { callerOf } from '../../access/caller-of.ts';
import {
  type FieldPattern,
  findPathFields,
  type PathField,
  valuesOfPath,
  writePathValues,
} from '../../content/path-values/path-values.ts';
import { stackFound } from '../../content/stacks/store.ts';
import { secretsOf } from '../../core/config/known-secrets.ts';
import { type Config, ConfigError } from '../../core/config.ts';
import type { Deps } from '../../core/deps.ts';
import { type OpenDatabase, openDatabase } from '../../platform/database/open.ts';
import type { Database } from '../../platform/database/pool.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { safeLogForm } from '../../platform/http/log-entries.ts';
import { say, sayCount } from '../../platform/language/say.ts';
import { listed, saySentence, sayStored, sentence } from '../../platform/language/sentence.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { enterLibrary } from '../library-place.ts';
import { openLibraryStorage } from '../storage/open.ts';
import { type ImportOptions, readArguments } from './arguments.ts';
import { collectFolder } from './collect-folder.ts';
import { dryRun } from './dry-run.ts';
import { type LivePlan, pairLivePhotos } from './live-photos.ts';
import { describeStored } from './metadata.ts';
import { findOwner } from './owner.ts';
import { type FoundSidecar, planImport } from './plan.ts';
import { postFolder } from './post-folder.ts';
import { progressBar } from './progress.ts';
import { findStacks } from './stacks.ts';
import { attachFilmOf, attachFound, storeFound } from './store.ts';
import { type FoundFile, walk } from './walk.ts';

interface Failure {
  path: string;
  reason: string;
}

interface Summary {
  stored: number;
  skipped: number;
  posts: number;
  collections: number;
  /** Number of stacks that were made. */
  stacks: number;
  /** Number of files that became subtitles of a video in the same folder. */
  subtitles: number;
  /** Number of files that became the film of a photo in the same folder. */
  films: number;
  /** Number of files with metadata of others that were read. */
  sidecars: number;
  failures: Failure[];
  stopped: boolean;
}

/** Finds the fields of the patterns. Throws a ConfigError that names a code without an active field of assets. */
async function fieldsOf(db: Database, patterns: readonly FieldPattern[]): Promise<PathField[]> {
  const { fields, unknown } = await findPathFields(db, patterns);
  if (unknown[0] !== undefined)
    throw new ConfigError(sentence('--field: assets have no field {code}', { code: unknown[0] }));
  return fields;
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

/** What an import does beside storing files. */
interface Run {
  language: Language;
  ownerRef: number;
  options: ImportOptions;
  fields: readonly PathField[];
  stopped: () => boolean;
}

/** Returns the name of a folder, which is that of the imported directory for files directly in it. */
function folderName(folder: string, directory: string): string {
  return folder === '' ? resolve(directory) : folder;
}

/** Stacks of one transaction. */
const STACKS_AT_ONCE = 500;

/** Stacks the files that belong together (STACK-6). */
async function stackFiles(
  { db }: Deps,
  stacks: readonly (readonly FoundFile[])[],
  assetOf: ReadonlyMap<string, string>,
): Promise<number> {
  const groups = stacks.map((files) => files.flatMap(({ path }) => assetOf.get(path) ?? []));
  let stacked = 0;
  for (let at = 0; at < groups.length; at += STACKS_AT_ONCE)
    stacked += await db.transaction().execute((tx) => stackFound(tx, groups.slice(at, at + STACKS_AT_ONCE)));
  return stacked;
}

/** Makes posts and collections of the folders, as requested. */
async function arrangeFolders(
  { db }: Deps,
  { language, ownerRef, options, stopped }: Run,
  files: readonly FoundFile[],
  assetOf: ReadonlyMap<string, string>,
  summary: Summary,
): Promise<void> {
  const owner = options.collections ? await callerOf(db, ownerRef) : null;
  for (const [folder, inFolder] of Map.groupBy(files, (file) => file.folder)) {
    if (stopped()) return;
    const ids = inFolder.flatMap((file) => assetOf.get(file.path) ?? []);
    const name = folderName(folder, options.directory);
    if (options.post) summary.posts += await postFolder(db, ownerRef, name, ids);
    if (owner === null || ids.length === 0) continue;
    const { isNew, leftOver } = await collectFolder(db, owner, name, ids);
    if (isNew) summary.collections += 1;
    if (leftOver > 0)
      summary.failures.push({
        path: name,
        reason: sayCount(language, leftOver, [
          'the collection has no room for # file',
          'the collection has no room for # files',
        ]),
      });
  }
}

/** Stores the files and waits for their previews. Posts and collects each folder if requested. */
async function importFiles(deps: Deps, run: Run, plan: LivePlan): Promise<Summary> {
  const { db } = deps;
  const { language, ownerRef, options, fields, stopped } = run;
  const summary: Summary = {
    stored: 0,
    skipped: 0,
    posts: 0,
    collections: 0,
    stacks: 0,
    subtitles: 0,
    films: 0,
    sidecars: 0,
    failures: [],
    stopped: false,
  };
  const assetOf = new Map<string, string>();
  const pathOf = new Map<string, string>();
  let waiting = 0;
  const total = plan.files.length + plan.subtitles.length + plan.films.size;
  const bar = progressBar(language, total);
  const shown = () => {
    const done =
      summary.stored +
      summary.skipped +
      summary.subtitles +
      summary.films +
      summary.failures.length -
      waiting;
    return Math.min(total, Math.max(0, done));
  };
  const timer = setInterval(() => {
    void countPending(db, ownerRef).then((pending) => {
      waiting = Math.min(pending, summary.stored);
      bar.show(shown());
    });
  }, 500);
  const fail = (path: string, reason: string) => summary.failures.push({ path, reason });
  const failWith = (path: string, error: unknown) =>
    fail(path, saySentence(language, sentenceOfError(error)));
  const attachFilm = async (film: FoundFile | undefined, assetId: string) => {
    if (film === undefined) return;
    try {
      if (await attachFilmOf(deps, ownerRef, assetId, film)) summary.films += 1;
      else summary.skipped += 1;
    } catch (error) {
      failWith(film.path, error);
    }
  };
  const storeEach = async (file: FoundFile) => {
    const metadata = plan.metadata.get(file.path) ?? [];
    try {
      const stored = await storeFound(deps, ownerRef, file, options.fields);
      assetOf.set(file.path, stored.assetId);
      if (stored.skipped) summary.skipped += 1;
      else {
        summary.stored += 1;
        pathOf.set(stored.assetId, file.path);
      }
      const described = await describeStored(deps, { id: stored.assetId, ownerRef }, metadata);
      summary.sidecars += metadata.length - described.length;
      for (const { path, reason } of described) fail(path, saySentence(language, reason));
      const unfit = await writePathValues(db, stored.assetId, valuesOfPath(fields, file));
      if (unfit.length > 0)
        fail(
          file.path,
          say(language, 'stored; its path does not fit {fields}', { fields: unfit.join(', ') }),
        );
      await attachFilm(plan.films.get(file.path), stored.assetId);
    } catch (error) {
      failWith(file.path, error);
    }
  };
  const attachEach = async ({ file, targets }: FoundSidecar) => {
    const assets = targets.flatMap(({ file: target, lang }) => {
      const assetId = assetOf.get(target.path);
      return assetId === undefined ? [] : [{ assetId, lang }];
    });
    try {
      if ((await attachFound(deps, ownerRef, file, assets)) === null) await storeEach(file);
      else summary.subtitles += 1;
    } catch (error) {
      failWith(file.path, error);
    }
  };
  try {
    for (const { path } of plan.orphans)
      fail(path, say(language, 'a sidecar without the file that it describes'));
    await eachAtOnce(plan.files, stopped, storeEach);
    // Stores subtitles last, because they are attached to videos.
    await eachAtOnce(plan.subtitles, stopped, attachEach);
    if (options.stacks && !stopped())
      summary.stacks = await stackFiles(deps, await findStacks(deps.metadata, plan.files), assetOf);
    if (!stopped() && (options.post || options.collections)) {
      const files = [...plan.files, ...plan.subtitles.map(({ file }) => file)];
      await arrangeFolders(deps, run, files, assetOf, summary);
    }
    while (!stopped() && (await countPending(db, ownerRef)) > 0) await sleep(100);
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
      summary.failures.push({
        path,
        reason: say(language, 'stored, not rendered: {fault}', {
          fault: sayStored(language, processing_error ?? ''),
        }),
      });
  }
  summary.stopped = stopped();
  return summary;
}

function printSummary(language: Language, summary: Summary): void {
  const { stored, skipped, subtitles, films, stacks, sidecars, posts, collections, failures } = summary;
  const made: [count: number, text: string][] = [
    [subtitles, say(language, '{count} attached as subtitles', { count: subtitles })],
    [films, sayCount(language, films, ['# film of live photos', '# films of live photos'])],
    [stacks, sayCount(language, stacks, ['# stack made', '# stacks made'])],
    [sidecars, sayCount(language, sidecars, ['# sidecar read', '# sidecars read'])],
    [posts, sayCount(language, posts, ['# post made', '# posts made'])],
    [collections, sayCount(language, collections, ['# collection made', '# collections made'])],
  ];
  console.log(
    listed(language, [
      say(language, '{count} imported', { count: stored }),
      say(language, '{count} already present', { count: skipped }),
      ...made.flatMap(([count, text]) => (count === 0 ? [] : [text])),
      say(language, '{count} failed', { count: failures.length }),
    ]),
  );
  for (const { path, reason } of summary.failures) console.log(`  ${path}: ${reason}`);
  if (summary.stopped) console.log(say(language, 'stopped; run it again to go on where it was'));
}

/** The parts of a running service that an import works with. */
interface ImportParts {
  openDeps(db: Database, storage: Storage, config: Config, log: Logger): Promise<Deps>;
  startWorker(deps: Deps, database: OpenDatabase): Promise<{ stop(): Promise<void> }>;
}

/** Exit status when something was left out, which the output names. */
const LEFT_OUT = 3;

/** Imports with a worker of its own, because it waits for the previews whatever jobs the service here runs. */
async function importPlan(
  deps: Deps,
  database: OpenDatabase,
  startWorker: ImportParts['startWorker'],
  run: Run,
  plan: LivePlan,
): Promise<void> {
  const worker = await startWorker(deps, database);
  try {
    const summary = await importFiles(deps, run, plan);
    printSummary(run.language, summary);
    if (summary.failures.length > 0) process.exitCode = LEFT_OUT;
  } finally {
    await worker.stop();
  }
}

/**
 * `vitrine import DIR`: imports a folder of any size as assets, and on request its folders as posts or collections and
 * what its paths say as values of fields (ADMIN-9, ADMIN-30, ADMIN-31).
 */
export async function importCommand(
  config: Config,
  args: string[],
  { openDeps, startWorker }: ImportParts,
): Promise<void> {
  const options = readArguments(args);
  enterLibrary(config);
  const root = resolve(options.directory);
  const found = await stat(root).catch(() => null);
  if (found?.isDirectory() !== true)
    throw new ConfigError(sentence('{path} is not a directory', { path: root }));

  const database = await openDatabase(config, { join: true, log: (message) => console.error(message) });
  let stopped = false;
  const stop = () => {
    stopped = true;
  };
  process.once('SIGINT', stop);
  try {
    const ownerRef = await findOwner(database.db, options.user);
    const fields = await fieldsOf(database.db, options.patterns);
    const log = pino({ level: 'error', ...safeLogForm(secretsOf(config)) });
    const deps = await openDeps(database.db, await openLibraryStorage(config), config, log);
    try {
      const plan = await pairLivePhotos(deps.metadata, await planImport(walk(root)));
      if (options.dryRun) {
        for (const line of await dryRun(
          config.language,
          { db: database.db, metadata: deps.metadata },
          ownerRef,
          plan,
          {
            fields,
            stacks: options.stacks,
          },
        ))
          console.log(line);
        return;
      }
      await importPlan(
        deps,
        database,
        startWorker,
        { language: config.language, ownerRef, options, fields, stopped: () => stopped },
        plan,
      );
    } finally {
      await Promise.all([deps.decoders.close(), deps.metadata.close()]);
    }
  } finally {
    process.off('SIGINT', stop);
    await database.close();
  }
}
