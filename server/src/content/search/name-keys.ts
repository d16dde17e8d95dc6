import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { recordEvents } from '../../people/audit/record.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { isUniqueViolation } from '../../platform/database/unavailable.ts';

/** Tables of saved queries, whose names are unique for each account. */
const tables = ['feed_views', 'saved_searches'] as const;
type Table = (typeof tables)[number];

/** Queries per transaction. */
const BATCH = 1000;

/** Longest beginning of a name that is kept when a number is added. */
const KEPT = 90;

interface Renamed {
  id: string;
  user_ref: number;
}

interface Named extends Renamed {
  name: string;
}

const inAccount = (userRef: number, name: string) => `${userRef} ${foldName(name)}`;

/** Returns the name, or `name-2` and so on if the account has a query of that name. */
function freeName({ user_ref, name }: Named, taken: ReadonlySet<string>): string {
  const base = [...name].slice(0, KEPT).join('');
  let free = name;
  for (let number = 2; taken.has(inAccount(user_ref, free)); number += 1) free = `${base}-${number}`;
  return free;
}

/** Fills in the keys of the next queries, and returns those that were renamed; null when all have a key. */
async function fillBatch(tx: Tx, table: Table): Promise<Renamed[] | null> {
  const { rows } = await sql<Named>`select id, user_ref, name from ${sql.table(table)} where name_key is null
    order by user_ref, id limit ${BATCH} for no key update`.execute(tx);
  if (rows.length === 0) return null;
  const { rows: others } = await sql<{ user_ref: number; name: string }>`select user_ref, name
    from ${sql.table(table)}
    where user_ref = any(${rows.map(({ user_ref }) => user_ref)}::bigint[]) and name_key is not null`.execute(
    tx,
  );
  const taken = new Set(others.map(({ user_ref, name }) => inAccount(user_ref, name)));
  const renamed: Renamed[] = [];
  const named = rows.map((row) => {
    const name = freeName(row, taken);
    taken.add(inAccount(row.user_ref, name));
    if (name !== row.name) renamed.push({ id: row.id, user_ref: row.user_ref });
    return { id: row.id, name, name_key: foldName(name) };
  });
  await sql`update ${sql.table(table)} k set name = n.name, name_key = n.name_key
    from jsonb_to_recordset(${JSON.stringify(named)}::jsonb) as n (id uuid, name text, name_key text)
    where k.id = n.id`.execute(tx);
  // Names of saved queries are private, so the event has none.
  await recordEvents(
    tx,
    null,
    renamed.map(({ id, user_ref }) => ({
      event: table === 'feed_views' ? 'feed_view.renamed' : 'saved_search.renamed',
      subjectUserRef: user_ref,
      metadata: { id, reason: 'same_name' },
    })),
  );
  return renamed;
}

async function fillTable(db: Database, table: Table): Promise<Renamed[]> {
  const renamed: Renamed[] = [];
  for (;;) {
    const batch = await db
      .transaction()
      .execute((tx) => fillBatch(tx, table))
      .catch((error: unknown) => {
        // The account has just saved a query of that name: the batch is done again.
        if (isUniqueViolation(error)) return [];
        throw error;
      });
    if (batch === null) return renamed;
    renamed.push(...batch);
  }
}

/**
 * Gives saved views and searches the key by which their names are compared (NAME-6). Of those with the same key in an
 * account, the first keeps its name and the others get a number. Repeating it changes nothing.
 */
export async function keepSavedNameKeys({ db, log }: Pick<Deps, 'db' | 'log'>): Promise<void> {
  for (const table of tables) {
    for (const { id, user_ref } of await fillTable(db, table))
      log.warn(
        { table, id, user: user_ref },
        'renamed a saved query that had the name of another in a different spelling',
      );
  }
}
