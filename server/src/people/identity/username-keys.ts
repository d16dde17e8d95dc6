import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { isUniqueViolation } from '../../platform/database/unavailable.ts';
import { recordEvents } from '../audit/record.ts';

/** An account that was renamed, because an older account has its name in another spelling. */
export interface RenamedAccount {
  ref: number;
  from: string;
  to: string;
}

/** Accounts per transaction. */
const BATCH = 1000;

/** Longest beginning of a name that is kept when a number is added; a username has at most 100 characters. */
const KEPT = 90;

interface Named {
  ref: number;
  username: string;
}

async function keysAmong(tx: Tx, keys: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ username_key: string }>`select username_key from users
    where username_key = any(${keys}::text[])`.execute(tx);
  return new Set(rows.map(({ username_key }) => username_key));
}

/** Returns `name-2`, or the next such name that nobody has. */
async function freeName(tx: Tx, username: string, taken: ReadonlySet<string>): Promise<string> {
  const base = [...username].slice(0, KEPT).join('');
  for (let first = 2; ; first += 100) {
    const names = Array.from({ length: 100 }, (_, at) => `${base}-${first + at}`);
    const known = await keysAmong(tx, names.map(foldName));
    const free = names.find((name) => !known.has(foldName(name)) && !taken.has(foldName(name)));
    if (free !== undefined) return free;
  }
}

/** Fills in the keys of the oldest accounts without one, and returns those that were renamed. */
async function fillBatch(tx: Tx): Promise<RenamedAccount[]> {
  await takeLock(tx, 'usernameKeys');
  const rows = await tx
    .selectFrom('users')
    .select(['ref', 'username'])
    .where('username_key', 'is', null)
    .orderBy('ref')
    .limit(BATCH)
    .forNoKeyUpdate()
    .execute();
  const taken = await keysAmong(
    tx,
    rows.map(({ username }) => foldName(username)),
  );
  const renamed: RenamedAccount[] = [];
  const named: Named[] = [];
  for (const { ref, username } of rows) {
    const to = taken.has(foldName(username)) ? await freeName(tx, username, taken) : username;
    taken.add(foldName(to));
    named.push({ ref, username: to });
    if (to !== username) renamed.push({ ref, from: username, to });
  }
  await sql`update users u set username = n.username, username_key = n.username_key,
      hashed_as = case when n.username = u.username then u.hashed_as else coalesce(u.hashed_as, u.username) end
    from unnest(${named.map(({ ref }) => ref)}::bigint[], ${named.map(({ username }) => username)}::text[],
      ${named.map(({ username }) => foldName(username))}::text[]) as n (ref, username, username_key)
    where u.ref = n.ref`.execute(tx);
  await recordEvents(
    tx,
    null,
    renamed.map(({ ref, from, to }) => ({
      event: 'user.renamed',
      subjectUserRef: ref,
      metadata: { from, to, reason: 'same_name' },
    })),
  );
  return renamed;
}

/** Somebody has just created an account of the same name: the batch is done again. */
function unlessTaken(error: unknown): RenamedAccount[] {
  if (isUniqueViolation(error)) return [];
  throw error;
}

/**
 * Gives every account the key by which it is found (NAME-1): at an upgrade all, later those that a process of an
 * earlier version created. Of accounts with the same key the oldest keeps its name; the others are renamed and
 * returned (NAME-3). Repeating it changes nothing.
 */
export async function fillUsernameKeys(db: Database): Promise<RenamedAccount[]> {
  const renamed: RenamedAccount[] = [];
  while (
    (await db.selectFrom('users').where('username_key', 'is', null).limit(sql.lit(1)).execute()).length > 0
  ) {
    const batch = await db
      .transaction()
      .execute((tx) => fillBatch(tx))
      .catch(unlessTaken);
    renamed.push(...batch);
  }
  return renamed;
}

/** Fills in missing keys, and says in the log who was renamed. */
export async function keepUsernameKeys({ db, log }: Pick<Deps, 'db' | 'log'>): Promise<void> {
  for (const account of await fillUsernameKeys(db)) {
    log.warn(account, 'renamed an account, because an older one has its name in another spelling');
  }
}
