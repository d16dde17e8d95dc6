import type { Language } from '@vitrine/contract/languages';
import { type Config, ConfigError } from '../../../core/config.ts';
import { readSetting } from '../../../core/settings.ts';
import { fillUsernameKeys } from '../../../people/identity/username-keys.ts';
import { openDatabase } from '../../../platform/database/open.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { say } from '../../../platform/language/say.ts';
import { listed, sentence } from '../../../platform/language/sentence.ts';
import { enterLibrary } from '../../library-place.ts';
import { readOptions } from '../../options.ts';
import { readCsv } from './csv.ts';
import { type ImportCounts, importUsers } from './import.ts';
import { readMysql } from './mysql.ts';
import { readMysqlAddress } from './mysql-address.ts';
import type { SourceRow } from './source.ts';

const usage = sentence('name a source: {csv}, or {mysql}', {
  csv: 'vitrine import-users FILE.csv',
  mysql: '--mysql mysql://user:password@host/database',
});

/** Where the command prints its report and its warnings. */
export type Output = Pick<Console, 'log' | 'error'>;

interface Orders {
  source: 'csv' | 'mysql';
  rows: AsyncGenerator<SourceRow>;
  roleOfGroup: Map<string, string>;
  dryRun: boolean;
}

const options = {
  mysql: { type: 'string' },
  table: { type: 'string' },
  role: { type: 'string', multiple: true },
  'dry-run': { type: 'boolean', default: false },
} as const;

function readRoles(texts: readonly string[]): Map<string, string> {
  const roles = new Map<string, string>();
  for (const text of texts) {
    const [, group, role] = /^(\d+)=(.+)$/.exec(text) ?? [];
    if (group === undefined || role === undefined)
      throw new ConfigError(
        sentence('--role takes GROUP=ROLE, the number of a user group and the code of a role'),
      );
    if (roles.has(group))
      throw new ConfigError(sentence('{option} names {code} twice', { option: '--role', code: group }));
    roles.set(group, role);
  }
  return roles;
}

function readArguments(args: string[], mysqlPassword: string | undefined): Orders {
  const { values, positionals } = readOptions({ args, allowPositionals: true, options });
  const [path, more] = positionals;
  if (more !== undefined || (path === undefined) === (values.mysql === undefined))
    throw new ConfigError(usage);
  const common = { roleOfGroup: readRoles(values.role ?? []), dryRun: values['dry-run'] };
  if (values.mysql === undefined) {
    if (values.table !== undefined)
      throw new ConfigError(sentence('{option} requires {other}', { option: '--table', other: '--mysql' }));
    return { source: 'csv', rows: readCsv(path ?? ''), ...common };
  }
  const address = readMysqlAddress(values.mysql);
  const password = address.password ?? mysqlPassword ?? null;
  return { source: 'mysql', rows: readMysql({ ...address, password }, values.table ?? 'user'), ...common };
}

/** Waits for the first row, so that a wrong file or address is reported before a library is opened or created. */
async function begin(rows: AsyncGenerator<SourceRow>): Promise<AsyncGenerator<SourceRow>> {
  const first = await rows.next();
  return (async function* () {
    if (first.done === true) return;
    yield first.value;
    yield* rows;
  })();
}

async function readRoleIds(db: Database, asked: Iterable<string>): Promise<Map<string, string>> {
  const roles = await db.selectFrom('roles').select(['code', 'id']).orderBy('code').execute();
  const ids = new Map(roles.map(({ code, id }) => [code, id]));
  for (const code of asked) {
    if (!ids.has(code))
      throw new ConfigError(
        sentence('no role {code}; there are {roles}', { code, roles: [...ids.keys()].join(', ') }),
      );
  }
  return ids;
}

/** Warns the operator if the configured key cannot verify imported or existing password hashes. */
async function warnAboutKey(db: Database, config: Config, output: Output): Promise<void> {
  if (config.scrambleKey === null) {
    output.error(
      say(
        config.language,
        'VITRINE_SCRAMBLE_KEY is not set: give the service the $scramble_key of the earlier system, or users with a bcrypt or Argon2id password cannot sign in',
      ),
    );
    return;
  }
  const kept = await readSetting(db, 'scramble_key');
  if (kept !== null && kept !== config.scrambleKey) {
    output.error(
      say(
        config.language,
        'this library hashed passwords under its own key before VITRINE_SCRAMBLE_KEY was set; those must be reset',
      ),
    );
  }
}

function printCounts(language: Language, counts: ImportCounts, orders: Orders, output: Output): void {
  const { imported, kept, refused, withoutPassword, statuses, groups } = counts;
  output.log(
    listed(language, [
      orders.dryRun
        ? say(language, '{count} would be imported', { count: imported })
        : say(language, '{count} imported', { count: imported }),
      say(language, '{count} kept', { count: kept }),
      say(language, '{count} refused', { count: refused }),
    ]),
  );
  if (imported > 0) {
    const parts = [...statuses].map(([status, users]) => `${users} ${status}`);
    output.log(
      `  ${parts.join(', ')}; ${say(language, '{count} without a password', { count: withoutPassword })}`,
    );
  }
  const inOrder = [...groups].sort(([a], [b]) => Number(a) - Number(b));
  for (const [group, { role, users }] of inOrder) {
    if (users === 0) continue;
    const line =
      group === ''
        ? say(language, 'no group as {role}: {count}', { role, count: users })
        : say(language, 'group {group} as {role}: {count}', { group, role, count: users });
    output.log(`  ${line}`);
  }
  for (const [group, role] of orders.roleOfGroup) {
    if (!groups.has(group))
      output.log(`  ${say(language, 'no user has group {group} (role {role})', { group, role })}`);
  }
  if (orders.dryRun) output.log(say(language, 'nothing was written'));
}

async function importInto(
  { db, config, output }: { db: Database; config: Config; output: Output },
  orders: Orders,
): Promise<ImportCounts> {
  const roleIds = await readRoleIds(db, orders.roleOfGroup.values());
  await warnAboutKey(db, config, output);
  const counts = await importUsers(db, orders.rows, {
    ...orders,
    roleIds,
    now: new Date(),
    language: config.language,
    print: (line) => output.log(line),
  });
  printCounts(config.language, counts, orders, output);
  return counts;
}

/**
 * `vitrine import-users FILE.csv | --mysql URL [--table user] [--role GROUP=ROLE]... [--dry-run]`: imports the
 * accounts of an earlier system with their password hashes unchanged. Returns the exit code, 2 if a row was refused.
 */
export async function importUsersCommand(
  config: Config,
  args: string[],
  mysqlPassword: string | undefined,
  output: Output,
): Promise<number> {
  const orders = readArguments(args, mysqlPassword);
  const rows = await begin(orders.rows);
  try {
    enterLibrary(config);
    const database = await openDatabase(config, { join: true, log: (message) => output.error(message) });
    try {
      for (const { from, to } of await fillUsernameKeys(database.db)) {
        output.error(
          say(
            config.language,
            'renamed {from} to {to}, because an older account has this name in another spelling',
            { from, to },
          ),
        );
      }
      const { refused } = await importInto({ db: database.db, config, output }, { ...orders, rows });
      return refused > 0 ? 2 : 0;
    } finally {
      await database.close();
    }
  } finally {
    await orders.rows.return(undefined);
  }
}
