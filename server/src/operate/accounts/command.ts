import type { Language } from '@vitrine/contract/languages';
import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { type Config, ConfigError } from '../../core/config.ts';
import type { Passwords } from '../../core/deps.ts';
import { dropLink } from '../../people/account-links/links.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { temporaryPassword } from '../../people/identity/change-password.ts';
import { type Hashing, openHashing } from '../../people/identity/hashing.ts';
import { forgetFailures } from '../../people/identity/lock-out.ts';
import { endSessionsOf } from '../../people/identity/sessions.ts';
import { openDatabase, requireTables } from '../../platform/database/open.ts';
import type { Database } from '../../platform/database/pool.ts';
import { say, sayCount } from '../../platform/language/say.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { enterLibrary } from '../library-place.ts';

type OpenPasswords = (db: Database, hashing: Hashing, configured: string | null) => Promise<Passwords>;

function readArguments(args: readonly string[]): string {
  const [verb, name, ...more] = args;
  if (verb === 'reset-password' && name !== undefined && name !== '' && more.length === 0) return name;
  throw new ConfigError(
    sentence('choose a command: {command}', { command: 'vitrine admin reset-password NAME' }),
  );
}

/** Gives the account a temporary password, ends its sessions and lifts a lock; returns what to print. */
async function resetPassword(
  language: Language,
  db: Database,
  passwords: Passwords,
  name: string,
): Promise<string[]> {
  const account = await db
    .selectFrom('users')
    .select(['ref', 'username', 'status'])
    .where('username_key', '=', foldName(name))
    .executeTakeFirst();
  if (account === undefined) throw new ConfigError(sentence('no user {name}', { name }));
  const { ref, username, status } = account;
  const password = temporaryPassword();
  const password_hash = await passwords.hash(username, password);
  const ended = await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('users')
      .set({ password_hash, updated_at: sql`now()` })
      .where('ref', '=', ref)
      .execute();
    await forgetFailures(tx, username);
    await dropLink(tx, ref, 'password_reset');
    await recordEvent(tx, null, {
      event: 'user.password.reset',
      subjectUserRef: ref,
      metadata: { by: 'command line' },
    });
    return endSessionsOf(tx, ref, null);
  });
  return [
    ...(status === 'active'
      ? []
      : [say(language, 'the account is {status} and cannot sign in until it is active', { status })]),
    sayCount(
      language,
      ended,
      [
        '{name} has a new password, and # session ended. Temporary password:',
        '{name} has a new password, and # sessions ended. Temporary password:',
      ],
      { name: username },
    ),
    password,
  ];
}

/** `vitrine admin reset-password NAME`, also beside a running service (RUN-61). Returns the exit code. */
export async function adminCommand(
  config: Config,
  args: readonly string[],
  openPasswords: OpenPasswords,
  print: (line: string) => void,
): Promise<number> {
  const name = readArguments(args);
  enterLibrary(config);
  const database = await openDatabase(config, { join: true, migrate: false, log: () => {} });
  const hashing = openHashing();
  try {
    await requireTables(database.pool, config);
    const passwords = await openPasswords(database.db, hashing, config.scrambleKey);
    for (const line of await resetPassword(config.language, database.db, passwords, name)) print(line);
    return 0;
  } finally {
    await database.close();
  }
}
