import type { SignedIn } from '../../access/caller.ts';
import { callerOf } from '../../access/caller-of.ts';
import { type Config, ConfigError } from '../../core/config.ts';
import { advisoryLocks } from '../../platform/database/advisory-locks.ts';
import { openDatabase } from '../../platform/database/open.ts';
import type { Database } from '../../platform/database/pool.ts';
import { say } from '../../platform/language/say.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { findOwner } from '../import/owner.ts';
import { openLedger } from '../imports/ledger.ts';
import { lockImport } from '../imports/lock.ts';
import { type ImportParts, performImport } from '../imports/perform.ts';
import { enterLibrary } from '../library-place.ts';
import { readOptions } from '../options.ts';
import { findAccounts } from './accounts.ts';
import { apiAddress, ImmichFailure, openImmich, type Patience, usualPatience } from './client.ts';
import { unwiredSources } from './fields.ts';
import { importAll } from './import-all.ts';
import { readLibrary } from './library.ts';
import { previewText } from './preview.ts';

const SYSTEM = 'immich';

const text = { type: 'string' } as const;
const options = {
  'api-key': text,
  user: text,
  report: text,
  'dry-run': { type: 'boolean', default: false },
} as const;

function readArguments(args: string[], keyOfEnvironment: string | undefined) {
  const { values, positionals } = readOptions({ args, allowPositionals: true, options });
  const [given, more] = positionals;
  if (given === undefined || more !== undefined)
    throw new ConfigError(
      sentence('name a server: {command}', { command: 'vitrine import-immich URL --api-key KEY' }),
    );
  const address = apiAddress(given);
  if (address === null) throw new ConfigError(sentence('{given} is not the address of a server', { given }));
  const apiKey = values['api-key'] ?? keyOfEnvironment ?? '';
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new ConfigError(sentence('give the key with --api-key or IMMICH_API_KEY'));
  return { ...values, address, apiKey };
}

async function callerFor(db: Database, username: string | undefined): Promise<SignedIn> {
  const caller = await callerOf(db, await findOwner(db, username));
  if (caller === null)
    throw new ConfigError(
      username === undefined
        ? sentence('the oldest administrator is not active')
        : sentence('the account {name} is not active', { name: username }),
    );
  return caller;
}

/**
 * `vitrine import-immich`: takes what one account of an Immich has. Returns the exit code: 0, or 3 if something was left out
 * (IMPORT-12).
 */
export async function importImmichCommand(
  config: Config,
  args: string[],
  {
    apiKey: keyOfEnvironment,
    patience = usualPatience,
    ...parts
  }: ImportParts & { apiKey: string | undefined; patience?: Patience },
): Promise<number> {
  const orders = readArguments(args, keyOfEnvironment);
  const { output } = parts;
  enterLibrary(config);
  const database = await openDatabase(config, { join: true, log: (message) => output.error(message) });
  const { db } = database;
  const client = await database.pool.connect();
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  process.once('SIGINT', stop);
  try {
    await lockImport(client, advisoryLocks.immichImport, 'Immich');
    const owner = await callerFor(db, orders.user);
    const immich = openImmich(orders.address, orders.apiKey, patience);
    const library = await readLibrary(immich);
    const ledger = await openLedger(db, SYSTEM);
    const accounts = await findAccounts(db, library);
    if (orders['dry-run']) {
      const unwired = await unwiredSources(db, library);
      output.log(previewText(config.language, library, { ledger, accounts, unwired, owner: owner.username }));
      output.log(say(config.language, 'nothing was imported'));
      return 0;
    }
    const undertaking = {
      config,
      database,
      source: 'Immich',
      system: SYSTEM,
      name: 'immich' as const,
      ledger,
      owner,
      total: library.assets.size,
      reportPath: orders.report,
      isStopped: () => isStopped,
    };
    return await performImport(undertaking, parts, (tools, onProgress) =>
      importAll({ ...tools, immich, library, accounts }, onProgress),
    );
  } catch (error) {
    if (error instanceof ImmichFailure)
      throw new ConfigError(sentence('{fault}; run it again to go on', { fault: error.message }));
    throw error;
  } finally {
    process.removeListener('SIGINT', stop);
    // The lock ends with the connection.
    client.release(true);
    await database.close();
  }
}
