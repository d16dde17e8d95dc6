import { foldName } from '@vitrine/contract/names';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { storedTags } from '../../core/tag-register.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import type { Sentence } from '../../platform/language/sentence.ts';

/** A query that an account saves under a name: a search or a view of the feed. */
interface Saved {
  id: string;
  name: string;
  query: { readonly tag?: readonly string[] };
}

/** One kind of saved query: a table `k` with `id`, `user_ref`, `name`, `query` and its own columns. */
export interface SavedQueries<Row, T extends Saved> {
  singular: Sentence;
  plural: Sentence;
  /** Maximum number per account. */
  most: number;
  table: RawBuilder<unknown>;
  /** Columns of `k` for the response. */
  columns: RawBuilder<unknown>;
  order: RawBuilder<unknown>;
  /** Additional columns and values of a new row. */
  begins: { column: RawBuilder<unknown>; value(caller: SignedIn): RawBuilder<unknown> } | null;
  /** Additional assignments of an update, after a comma. */
  touched: RawBuilder<unknown>;
  show(row: Row): T;
}

interface Change<T extends Saved> {
  name?: string | null;
  query?: T['query'] | null;
}

/** Saved queries are private; those of other accounts are not found. */
export async function readSaved<Row, T extends Saved>(
  db: Database,
  caller: SignedIn,
  kind: SavedQueries<Row, T>,
  which: RawBuilder<boolean> = sql`true`,
): Promise<T[]> {
  const { rows } = await sql<Row>`select ${kind.columns} from ${kind.table} k
    where k.user_ref = ${caller.ref} and ${which} order by ${kind.order}`.execute(db);
  return rows.map(kind.show);
}

/** Locks all of an account's saved queries; changes are made one at a time. */
export async function lockSaved<Row, T extends Saved>(
  tx: Tx,
  caller: SignedIn,
  kind: SavedQueries<Row, T>,
): Promise<T[]> {
  await sql`select from users where ref = ${caller.ref} for no key update`.execute(tx);
  return readSaved(tx, caller, kind);
}

/** Returns the trimmed name, or throws when a query of the account has a name that NAME-6 calls equal. */
async function freeName<Row, T extends Saved>(
  tx: Tx,
  caller: SignedIn,
  kind: SavedQueries<Row, T>,
  { given, except }: { given: string; except: string | null },
): Promise<string> {
  const name = given.trim();
  if (name.includes('\0')) throw refuse('name-not-storable', { property: 'name' });
  const same = await readSaved(tx, caller, kind, sql`k.name_key = ${foldName(name)}`);
  if (same.some(({ id }) => id !== except)) throw refuse('name-taken', { kind: kind.singular });
  return name;
}

/** Serialises a query for storage, with its tags as they are registered (NAME-4); PostgreSQL's JSON has no NUL. */
async function written(tx: Tx, query: Saved['query']): Promise<string> {
  const tags = query.tag === undefined ? {} : { tag: await storedTags(tx, query.tag) };
  const text = JSON.stringify({ ...query, ...tags });
  if (text.includes('\\u0000')) throw refuse('name-not-storable', { property: 'query' });
  return text;
}

function only<Row, T extends Saved>(kind: SavedQueries<Row, T>, rows: readonly Row[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('write returned no row');
  return kind.show(row);
}

/** Saves another query. */
export async function saveQuery<Row, T extends Saved>(
  db: Database,
  caller: SignedIn,
  kind: SavedQueries<Row, T>,
  body: Pick<T, 'name' | 'query'>,
): Promise<T> {
  return db.transaction().execute(async (tx) => {
    const all = await lockSaved(tx, caller, kind);
    if (all.length >= kind.most) throw refuse('too-many-saved', { max: kind.most, kind: kind.plural });
    const name = await freeName(tx, caller, kind, { given: body.name, except: null });
    const { begins } = kind;
    const { rows } = await sql<Row>`
      insert into ${kind.table} as k (user_ref, name, name_key, query${begins === null ? sql`` : sql`, ${begins.column}`})
      values (${caller.ref}, ${name}, ${foldName(name)}, ${await written(tx, body.query)}::jsonb${begins === null ? sql`` : sql`, ${begins.value(caller)}`})
      returning ${kind.columns}`.execute(tx);
    return only(kind, rows);
  });
}

/** Renames one or replaces its query; null changes nothing. */
export async function changeSaved<Row, T extends Saved>(
  db: Database,
  caller: SignedIn,
  kind: SavedQueries<Row, T>,
  { id, name: given, query }: Change<T> & { id: string },
): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await lockSaved(tx, caller, kind);
    const [before] = await readSaved(tx, caller, kind, sql`k.id = ${id}`);
    if (before === undefined) throw notFound();
    if (given == null && query == null) return before;
    const name = await freeName(tx, caller, kind, { given: given ?? before.name, except: before.id });
    const { rows } = await sql<Row>`update ${kind.table} k set name = ${name}, name_key = ${foldName(name)},
      query = ${await written(tx, query ?? before.query)}::jsonb${kind.touched} where k.id = ${before.id}
      returning ${kind.columns}`.execute(tx);
    return only(kind, rows);
  });
}

/** Deletes one. */
export async function deleteSaved<Row, T extends Saved>(
  db: Database,
  caller: SignedIn,
  kind: SavedQueries<Row, T>,
  id: string,
): Promise<void> {
  const { rows } = await sql`delete from ${kind.table} k
    where k.id = ${id} and k.user_ref = ${caller.ref} returning k.id`.execute(db);
  if (rows.length === 0) throw notFound();
}
