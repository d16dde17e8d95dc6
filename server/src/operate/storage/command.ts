import { join } from 'node:path';
import { placedFiles } from '../../content/root-files/placed.ts';
import { type Config, ConfigError } from '../../core/config.ts';
import { openDatabase, requireTables } from '../../platform/database/open.ts';
import type { Database } from '../../platform/database/pool.ts';
import { withPlacedFiles } from '../../platform/storage/in-place.ts';
import { openDiskAndBucket } from '../../platform/storage/open.ts';
import { isStorageOutage } from '../../platform/storage/room.ts';
import { enterLibrary } from '../library-place.ts';
import { readOptions } from '../options.ts';
import { forgetBucket } from './buckets.ts';
import { checkStorage } from './check.ts';
import { moveStorage } from './move.ts';
import { openLibraryStorage } from './open.ts';
import { findOrphans, removeOrphans } from './sweep/orphans.ts';

type Print = (line: string) => void;

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
  print: Print;
  progress: Print;
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
    throw new ConfigError('choose a command: vitrine storage check, move or gc');
  if (values.content && action !== 'check') throw new ConfigError('--content is only for check');
  if (values['dry-run'] && action !== 'gc') throw new ConfigError('--dry-run is only for gc');
  if (!/^\d{1,4}$/.test(values.grace)) throw new ConfigError('--grace takes a number of hours');
  const olderThan = Date.now() - Number(values.grace) * HOUR_MS;
  return { action, content: values.content, dryRun: values['dry-run'], olderThan };
}

/** Returns a function that prints at most one line every two seconds. */
function seldom(print: Print): Print {
  let lastPrintedAt = Date.now();
  return (line) => {
    if (Date.now() - lastPrintedAt < PROGRESS_EVERY_MS) return;
    lastPrintedAt = Date.now();
    print(line);
  };
}

async function runCheck({ db, config, signal, print, progress }: Run, chosen: Arguments): Promise<number> {
  const storage = withPlacedFiles(await openLibraryStorage(config), placedFiles(db));
  const report = await checkStorage(
    { db, storage },
    {
      ...chosen,
      signal,
      print,
      progress: ({ objects, bytes }) => progress(`${objects} objects, ${bytes} bytes`),
    },
  );
  const { objects, bytes, missing, wrong, orphans, orphanBytes } = report;
  print(
    `checked: ${objects} objects, ${bytes} bytes; missing: ${missing}, wrong: ${wrong}, orphans: ${orphans} (${orphanBytes} bytes)`,
  );
  if (missing + wrong > 0)
    print('`vitrine doctor --bytes --repair` names the assets and renders previews again.');
  return missing + wrong > 0 ? 1 : 0;
}

async function runMove({ db, config, signal, print, progress }: Run): Promise<number> {
  if (config.s3 === null) throw new ConfigError('VITRINE_S3_BUCKET is not set: files have only one place');
  const { disk, bucket } = await openDiskAndBucket(
    join(config.dataDir, 'library'),
    config.reserveBytes,
    config.s3,
  );
  const direction = config.s3.writes ? { from: disk, to: bucket } : { from: bucket, to: disk };
  print(`moving files to the ${config.s3.writes ? 'bucket' : 'disk'}, where new ones go`);
  const { moved, bytes, left } = await moveStorage(db, direction, {
    signal,
    print,
    progress: (report) => progress(`${report.moved} objects, ${report.bytes} bytes`),
  });
  print(`moved: ${moved} objects, ${bytes} bytes; left because they are damaged: ${left}`);
  if (!signal.aborted && left === 0 && !config.s3.writes) await forgetBucket(db, config.s3);
  if (!signal.aborted) return left > 0 ? 1 : 0;
  print('stopped; run it again to go on');
  return 2;
}

async function runGc(
  { db, config, print, progress }: Run,
  { dryRun, olderThan }: Arguments,
): Promise<number> {
  const storage = withPlacedFiles(await openLibraryStorage(config), placedFiles(db));
  const total = { objects: 0, bytes: 0 };
  const count = ({ key, sizeBytes }: { key: string; sizeBytes: number }) => {
    total.objects += 1;
    total.bytes += sizeBytes;
    if (dryRun) print(`ORPHAN   ${key} (${sizeBytes} bytes)`);
    progress(`${total.objects} objects, ${total.bytes} bytes`);
  };
  if (dryRun) for await (const object of findOrphans({ db, storage }, olderThan)) count(object);
  else await removeOrphans({ db, storage }, olderThan, count);
  const unfinished = dryRun ? 0 : await storage.removeUnfinished(olderThan);
  print(
    `${dryRun ? 'orphans' : 'removed'}: ${total.objects} objects, ${total.bytes} bytes` +
      (dryRun ? '' : `; unfinished uploads: ${unfinished}`),
  );
  return 0;
}

/**
 * `vitrine storage check|move|gc`, beside a running library or on a stopped one. Returns the exit code: 1 when something
 * is missing, wrong or unavailable, 2 when it was stopped before the end.
 */
export async function storageCommand(config: Config, args: string[], print: Print): Promise<number> {
  const chosen = readArguments(args);
  enterLibrary(config);
  const database = await openDatabase(config, { join: true, migrate: false, log: () => {} });
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal);
  const progress = seldom((line) => console.error(line));
  const run = { db: database.db, config, signal: stop.signal, print, progress };
  try {
    await requireTables(database.pool, config);
    if (chosen.action === 'check') return await runCheck(run, chosen);
    return await (chosen.action === 'move' ? runMove(run) : runGc(run, chosen));
  } catch (error) {
    if (stop.signal.aborted) {
      print('stopped');
      return 2;
    }
    if (!isStorageOutage(error)) throw error;
    print(`the file storage is not available: ${error instanceof Error ? error.message : error}`);
    return 1;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
    await database.close();
  }
}
