import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { foldName } from '@vitrine/contract/names';
import { holds, type SignedIn } from '../../access/caller.ts';
import { callerOf } from '../../access/caller-of.ts';
import { type Config, ConfigError } from '../../core/config.ts';
import { openDatabase } from '../../platform/database/open.ts';
import type { Database } from '../../platform/database/pool.ts';
import { say } from '../../platform/language/say.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { readMysqlAddress } from '../import/users/mysql-address.ts';
import { openLedger } from '../imports/ledger.ts';
import { type ImportParts, performImport } from '../imports/perform.ts';
import { enterLibrary } from '../library-place.ts';
import { readOptions } from '../options.ts';
import { readDump } from './dump.ts';
import { openFileFinder } from './file-paths.ts';
import { importAll } from './import-all.ts';
import { readInstallation } from './installation.ts';
import { type Mapping, readMapping, writeProposal } from './mapping.ts';
import { readMysqlTables } from './mysql.ts';
import { makePlan } from './plan.ts';
import { previewText } from './preview.ts';
import { readSettings, type Settings } from './settings.ts';
import { type SourceRows, tables, tablesOfDryRun } from './source.ts';
import { openStaging, type Staging } from './staging.ts';

const usage: Sentence = sentence(
  'name a source: vitrine import-resourcespace --dump FILE or --database URL, and --filestore DIR',
);

const text = { type: 'string' } as const;
const options = {
  database: text,
  dump: text,
  filestore: text,
  syncdir: text,
  config: text,
  'scramble-key': text,
  mapping: text,
  report: text,
  system: { type: 'string', default: 'resourcespace' },
  'dry-run': { type: 'boolean', default: false },
} as const;

const parse = (args: string[]) => readOptions({ args, options }).values;

type Orders = ReturnType<typeof parse>;

async function requireDirectory(path: string | undefined, option: string): Promise<string> {
  if (path === undefined) throw new ConfigError(usage);
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() !== true)
    throw new ConfigError(sentence('{option}: {path} is not a directory', { option, path: resolve(path) }));
  return resolve(path);
}

/** Settings given as options take precedence over the file. */
async function readAllSettings(orders: Orders): Promise<Settings> {
  const settings = await readSettings(orders.config);
  const key = orders['scramble-key'] ?? settings.scramble_key;
  return key === undefined ? settings : { ...settings, scramble_key: key };
}

function sourceOf(orders: Orders, mysqlPassword: string | undefined): AsyncGenerator<SourceRows> {
  const { dump, database } = orders;
  if ((dump === undefined) === (database === undefined)) throw new ConfigError(usage);
  const wanted = orders['dry-run'] ? tablesOfDryRun : tables;
  if (dump !== undefined) return readDump(dump, wanted);
  const address = readMysqlAddress(database ?? '');
  return readMysqlTables({ ...address, password: address.password ?? mysqlPassword ?? null }, wanted);
}

/** Returns the named administrator, or the oldest one. */
async function findOwner(db: Database, name: string | undefined): Promise<SignedIn> {
  const rows = await db
    .selectFrom('users as u')
    .innerJoin('roles as r', 'r.id', 'u.role_id')
    .select('u.ref')
    .where('u.status', '=', 'active')
    .where((eb) =>
      name === undefined ? eb('r.code', '=', 'admin') : eb('u.username_key', '=', foldName(name)),
    )
    .orderBy('u.ref')
    .execute();
  for (const { ref } of rows) {
    const caller = await callerOf(db, ref);
    if (caller !== null && holds(caller, 'system.admin')) return caller;
  }
  throw new ConfigError(
    name === undefined
      ? sentence('the library has no administrator yet; start it and set it up')
      : sentence('{name} is no active administrator of this library', { name }),
  );
}

/**
 * `vitrine import-resourcespace`: takes accounts, files, values, rights and collections of a ResourceSpace. Returns the exit code: 0,
 * or 3 if something was left out.
 */
export async function importResourceSpaceCommand(
  config: Config,
  args: string[],
  { mysqlPassword, ...parts }: ImportParts & { mysqlPassword: string | undefined },
): Promise<number> {
  const { output } = parts;
  const orders = parse(args);
  const source = sourceOf(orders, mysqlPassword);
  const root = await requireDirectory(orders.filestore, '--filestore');
  const syncdir = orders.syncdir === undefined ? null : await requireDirectory(orders.syncdir, '--syncdir');
  const settings = await readAllSettings(orders);
  const given = orders.mapping === undefined ? null : await readMapping(orders.mapping);
  if (given === null && orders.mapping !== undefined && !orders['dry-run'])
    throw new ConfigError(sentence('{path} does not exist; --dry-run writes it', { path: orders.mapping }));
  enterLibrary(config);
  const database = await openDatabase(config, { join: true, log: (message) => output.error(message) });
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  process.once('SIGINT', stop);
  try {
    // Before a dump is read, which may take minutes.
    const owner = await findOwner(database.db, given?.owner);
    const staging = await openStaging(database.pool, source);
    try {
      return await runImport(staging, owner);
    } finally {
      await staging.close();
    }
  } finally {
    process.removeListener('SIGINT', stop);
    await database.close();
  }

  async function runImport(staging: Staging, owner: SignedIn): Promise<number> {
    const { db } = database;
    const installation = await readInstallation(staging, settings);
    const ledger = await openLedger(db, orders.system);
    const mapping: Mapping = given ?? {};
    const today = new Date().toISOString().slice(0, 10);
    const plan = await makePlan({ db, staging, installation, ledger }, mapping, today);
    const files = openFileFinder({ root, syncdir, scrambleKey: settings.scramble_key ?? '' });
    if (orders['dry-run']) {
      output.log(await previewText(config.language, staging, installation, plan, { files, today }));
      if (orders.mapping !== undefined && given === null) {
        await writeProposal(orders.mapping, installation, plan.fields, plan.groups);
        output.log(
          say(config.language, 'wrote {path}; change it and import with it', { path: orders.mapping }),
        );
      }
      output.log(say(config.language, 'nothing was imported'));
      return 0;
    }
    const [row] = await staging.query<{ n: number }>('select count(*) as n from rs_resource where ref > 0');
    const undertaking = {
      config,
      database,
      source: 'ResourceSpace',
      system: orders.system,
      name: 'resourcespace' as const,
      ledger,
      owner,
      total: row?.n ?? 0,
      reportPath: orders.report,
      isStopped: () => isStopped,
    };
    return performImport(undertaking, parts, (tools, onProgress) => {
      const teams = new Map<string, Promise<string>>();
      return importAll({ ...tools, staging, installation, plan, today, teams }, files, onProgress);
    });
  }
}
