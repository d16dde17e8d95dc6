import {
  createSearch,
  deleteSearch,
  listSearches,
  MOST_SEARCHES,
  SavedQuery,
  type SavedSearch,
  updateSearch,
} from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import { Compile } from 'typebox/compile';
import type { SignedIn } from '../access/caller.ts';
import type { Database, Tx } from '../platform/database/pool.ts';
import { handle } from '../platform/http/bind.ts';
import { notFound, refuse } from '../platform/http/refuse.ts';

interface Row {
  id: string;
  name: string;
  query: unknown;
  created_at: string;
  updated_at: string;
}

const compiled = Compile(SavedQuery);
const columns = sql`s.id, s.name, s.query, s.created_at, s.updated_at`;

function show({ query, ...row }: Row): SavedSearch {
  return { ...row, query: compiled.Check(query) ? query : {} };
}

/** Kept searches are their account's alone; another's is not there. */
async function read(db: Database, caller: SignedIn, which: RawBuilder<boolean>): Promise<SavedSearch[]> {
  const { rows } = await sql<Row>`select ${columns} from saved_searches s
    where s.user_ref = ${caller.ref} and ${which} order by lower(s.name), s.id`.execute(db);
  return rows.map(show);
}

/** An account's searches change one request at a time. */
async function lock(tx: Tx, caller: SignedIn): Promise<SavedSearch[]> {
  await sql`select from users where ref = ${caller.ref} for no key update`.execute(tx);
  return read(tx, caller, sql`true`);
}

async function checkName(tx: Tx, caller: SignedIn, name: string, except: string | null): Promise<void> {
  if (name.includes('\0')) throw refuse(400, 'body.name has a character that cannot be kept');
  const same = await read(tx, caller, sql`lower(s.name) = lower(${name})`);
  if (same.some((search) => search.id !== except)) throw refuse(409, 'a search has that name already');
}

/** A query as it is kept; JSON of PostgreSQL has no NUL. */
function kept(query: SavedQuery): string {
  const text = JSON.stringify(query);
  if (text.includes('\\u0000')) throw refuse(400, 'body.query has a character that cannot be kept');
  return text;
}

function only(rows: Row[]): SavedSearch {
  const [row] = rows;
  if (row === undefined) throw new Error('a write answers its row');
  return show(row);
}

export const list = handle(listSearches, async ({ db }, { caller }) => ({
  status: 200,
  body: await read(db, caller, sql`true`),
}));

export const create = handle(createSearch, async ({ db }, { caller, body }) => {
  const name = body.name.trim();
  const search = await db.transaction().execute(async (tx) => {
    const searches = await lock(tx, caller);
    if (searches.length >= MOST_SEARCHES)
      throw refuse(409, `no more than ${MOST_SEARCHES} searches can be kept`);
    await checkName(tx, caller, name, null);
    const { rows } = await sql<Row>`insert into saved_searches as s (user_ref, name, query)
      values (${caller.ref}, ${name}, ${kept(body.query)}::jsonb) returning ${columns}`.execute(tx);
    return only(rows);
  });
  return { status: 201, body: search };
});

export const edit = handle(updateSearch, async ({ db }, { caller, params, body }) => {
  const search = await db.transaction().execute(async (tx) => {
    await lock(tx, caller);
    const [before] = await read(tx, caller, sql`s.id = ${params.id}`);
    if (before === undefined) throw notFound();
    const name = body.name?.trim() ?? before.name;
    await checkName(tx, caller, name, before.id);
    const { rows } = await sql<Row>`update saved_searches s set name = ${name},
      query = ${kept(body.query ?? before.query)}::jsonb, updated_at = now()
      where s.id = ${before.id} returning ${columns}`.execute(tx);
    return only(rows);
  });
  return { status: 200, body: search };
});

export const remove = handle(deleteSearch, async ({ db }, { caller, params }) => {
  const gone = await db
    .deleteFrom('saved_searches')
    .where('id', '=', params.id)
    .where('user_ref', '=', caller.ref)
    .returning('id')
    .executeTakeFirst();
  if (gone === undefined) throw notFound();
  return { status: 204 };
});
