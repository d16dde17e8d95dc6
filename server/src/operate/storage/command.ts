import { join } from 'node:path';
import { placedFiles } from '../../content/root-files/placed.ts';
import { type Config, ConfigError } from '../../core/config.ts';
import { openDatabase, requireTables } from '../../platform/database/open.ts';
import type { Database } from '../../platform/database/pool.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { type Sentence, saySentence, sentence, sentenceCount } from '../../platform/language/sentence.ts';
import { withPlacedFiles } from '../../platform/storage/in-place.ts';
import { openDiskAndBucket } from '../../platform/storage/open.ts';
import { isStorageOutage } from '../../platform/storage/room.ts';
import { enterLibrary } from '../library-place.ts';
import { readOptions } from '../options.ts';
import { forgetBucket } from './buckets.ts';
import { checkStorage, orphanLine } from './check.ts';
import { moveStorage } from './move.ts';
import { openLibraryStorage } from './open.ts';
import { findOrphans, removeOrphans } from './sweep/orphans.ts';

type Tell = (line: Sentence) => void;

interface Arguments {
  action: 'check' | 'move' | 'gc';
  content: boolean;
  dryRun: boolean;
  /** Objects modified before this time count as orphans when no row refers to them. */
  olderThan: number;
}

interface Run {
  db: Database;
  config: Config;
  signal: AbortSignal;
  tell: Tell;
  progress: Tell;
}

const PROGRESS_EVERY_MS = 2000;
const HOUR_MS = 3600 * 1000;

const options = {
  content: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  grace: { type: 'string', default: '24' },
} as const;

function readArguments(args: string[]): Arguments {
  const { values, positionals } = readOptions({ args, allowPositionals: true, options });
  const [action, ...more] = positionals;
  if ((action !== 'check' && action !== 'move' && action !== 'gc') || more.length > 0)
    throw new ConfigError(
      sentence('choose a command: {command}', { command: 'vitrine storage check|move|gc' }),
    );
  if (values.content && action !== 'check')
    throw new ConfigError(
      sentence('{option} is only for {command}', { option: '--content', command: 'check' }),
    );
  if (values['dry-run'] && action !== 'gc')
    throw new ConfigError(sentence('{option} is only for {command}', { option: '--dry-run', command: 'gc' }));
  if (!/^\d{1,4}$/.test(values.grace)) throw new ConfigError(sentence('--grace takes a number of hours'));
  const olderThan = Date.now() - Number(values.grace) * HOUR_MS;
  return { action, content: values.content, dryRun: values['dry-run'], olderThan };
}

/** Returns a function that prints at most one line every two seconds. */
function seldom(tell: Tell): Tell {
  let lastPrintedAt = Date.now();
  return (line) => {
    if (Date.now() - lastPrintedAt < PROGRESS_EVERY_MS) return;
    lastPrintedAt = Date.now();
    tell(line);
  };
}

/** Returns how many objects there are, and their size. */
const amountOf = (objects: number, bytes: number): Sentence =>
  sentence('{objects}, {bytes}', {
    objects: sentenceCount(objects, ['# object', '# objects']),
    bytes: sentenceCount(bytes, ['# byte', '# bytes']),
  });

async function runCheck({ db, config, signal, tell, progress }: Run, chosen: Arguments): Promise<number> {
  const storage = withPlacedFiles(await openLibraryStorage(config), placedFiles(db));
  const report = await checkStorage(
    { db, storage },
    {
      ...chosen,
      signal,
      tell,
      progress: ({ objects, bytes }) => progress(amountOf(objects, bytes)),
    },
  );
  const { objects, bytes, missing, wrong, orphans, orphanBytes } = report;
  tell(
    sentence('checked: {amount}; missing: {missing}, wrong: {wrong}, orphans: {orphans} ({size})', {
      amount: amountOf(objects, bytes),
      missing,
      wrong,
      orphans,
      size: sentenceCount(orphanBytes, ['# byte', '# bytes']),
    }),
  );
  if (missing + wrong > 0)
    tell(sentence('`vitrine doctor --bytes --repair` names the assets and renders previews again.'));
  return missing + wrong > 0 ? 1 : 0;
}

async function runMove({ db, config, signal, tell, progress }: Run): Promise<number> {
  if (config.s3 === null)
    throw new ConfigError(sentence('VITRINE_S3_BUCKET is not set: files have only one place'));
  const { disk, bucket } = await openDiskAndBucket(
    join(config.dataDir, 'library'),
    config.reserveBytes,
    config.s3,
  );
  const direction = config.s3.writes ? { from: disk, to: bucket } : { from: bucket, to: disk };
  tell(
    config.s3.writes
      ? sentence('moving files to the bucket, where new ones go')
      : sentence('moving files to the disk, where new ones go'),
  );
  const { moved, bytes, left } = await moveStorage(db, direction, {
    signal,
    tell,
    progress: (report) => progress(amountOf(report.moved, report.bytes)),
  });
  tell(
    sentence('moved: {amount}; left because they are damaged: {left}', {
      amount: amountOf(moved, bytes),
      left,
    }),
  );
  if (!signal.aborted && left === 0 && !config.s3.writes) await forgetBucket(db, config.s3);
  if (!signal.aborted) return left > 0 ? 1 : 0;
  tell(sentence('stopped; run it again to go on'));
  return 2;
}

async function runGc({ db, config, tell, progress }: Run, { dryRun, olderThan }: Arguments): Promise<number> {
  const storage = withPlacedFiles(await openLibraryStorage(config), placedFiles(db));
  const total = { objects: 0, bytes: 0 };
  const count = ({ key, sizeBytes }: { key: string; sizeBytes: number }) => {
    total.objects += 1;
    total.bytes += sizeBytes;
    if (dryRun) tell(orphanLine(key, sizeBytes));
    progress(amountOf(total.objects, total.bytes));
  };
  if (dryRun) for await (const object of findOrphans({ db, storage }, olderThan)) count(object);
  else await removeOrphans({ db, storage }, olderThan, count);
  const unfinished = dryRun ? 0 : await storage.removeUnfinished(olderThan);
  const amount = amountOf(total.objects, total.bytes);
  tell(
    dryRun
      ? sentence('orphans: {amount}', { amount })
      : sentence('removed: {amount}; unfinished uploads: {unfinished}', { amount, unfinished }),
  );
  return 0;
}

/**
 * `vitrine storage check|move|gc`, beside a running library or on a stopped one. Returns the exit code: 1 when something
 * is missing, wrong or unavailable, 2 when it was stopped before the end.
 */
export async function storageCommand(
  config: Config,
  args: string[],
  print: (line: string) => void,
): Promise<number> {
  const chosen = readArguments(args);
  enterLibrary(config);
  const database = await openDatabase(config, { join: true, migrate: false, log: () => {} });
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal);
  const { language } = config;
  const tell: Tell = (line) => print(saySentence(language, line));
  const progress = seldom((line) => console.error(saySentence(language, line)));
  const run = { db: database.db, config, signal: stop.signal, tell, progress };
  try {
    await requireTables(database.pool, config);
    if (chosen.action === 'check') return await runCheck(run, chosen);
    return await (chosen.action === 'move' ? runMove(run) : runGc(run, chosen));
  } catch (error) {
    if (stop.signal.aborted) {
      tell(sentence('stopped'));
      return 2;
    }
    if (!isStorageOutage(error)) throw error;
    tell(sentence('the file storage is not available: {reason}', { reason: sentenceOfError(error) }));
    return 1;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
    await database.close();
  }
}
