import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Check } from '@vitrine/contract/doctor';
import { sql } from 'kysely';
import { type Config, ConfigError } from '../config.ts';
import { openLibraryStorage } from '../main.ts';
import { openDatabase } from '../platform/database/open.ts';
import { examineAll } from './examine.ts';

const marks: Readonly<Record<Check['status'], string>> = {
  ok: 'ok     ',
  warning: 'warning',
  problem: 'PROBLEM',
};

/** A check as lines of text; what to do stands below it. */
function linesOf({ status, title, detail, remedy }: Check): string[] {
  const first = `${marks[status]}  ${title}: ${detail}`;
  return remedy === null ? [first] : [first, `         ${remedy}`];
}

/**
 * `vitrine doctor`: the checks of the page, beside a running library or on one that stands still, whose database it
 * takes as it is. Returns the exit code: 1 when there is a problem.
 */
export async function doctorCommand(config: Config, print: (line: string) => void): Promise<number> {
  // Looking at a library must not make one.
  if (config.databaseUrl === null && !existsSync(join(config.dataDir, 'postgres'))) {
    throw new ConfigError(`there is no library in ${config.dataDir}; set VITRINE_DATA to where it is`);
  }
  const database = await openDatabase(config, { join: true, migrate: false, log: () => {} });
  try {
    await sql`select 1`.execute(database.db);
  } catch (error) {
    await database.close();
    print(`PROBLEM  Database: it cannot be reached: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
  try {
    const storage = await openLibraryStorage(config);
    const searchPath = process.env.PATH ?? '';
    const checks = await examineAll({ db: database.db, storage, config, searchPath });
    for (const line of checks.flatMap(linesOf)) print(line);
    const count = (status: Check['status']) => checks.filter((check) => check.status === status).length;
    print(`problems: ${count('problem')}, warnings: ${count('warning')}, fine: ${count('ok')}`);
    return count('problem') > 0 ? 1 : 0;
  } finally {
    await database.close();
  }
}
