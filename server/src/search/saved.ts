import {
  createSearch,
  deleteSearch,
  listSearches,
  MOST_SEARCHES,
  SavedQuery,
  type SavedSearch,
  updateSearch,
} from '@vitrine/contract/search';
import { sql } from 'kysely';
import { Compile } from 'typebox/compile';
import { handle } from '../handle.ts';
import { changeKept, forgetKept, type KeptQueries, keep, readKept } from '../users/kept-queries.ts';

type Row = Omit<SavedSearch, 'query'> & { query: unknown };

const compiled = Compile(SavedQuery);

const searches: KeptQueries<Row, SavedSearch> = {
  singular: 'search',
  plural: 'searches',
  most: MOST_SEARCHES,
  table: sql.table('saved_searches'),
  columns: sql`k.id, k.name, k.query, k.created_at, k.updated_at`,
  order: sql`lower(k.name), k.id`,
  begins: null,
  touched: sql`, updated_at = now()`,
  show: ({ query, ...row }) => ({ ...row, query: compiled.Check(query) ? query : {} }),
};

export const list = handle(listSearches, async ({ db }, { caller }) => ({
  status: 200,
  body: await readKept(db, caller, searches),
}));

export const create = handle(createSearch, async ({ db }, { caller, body }) => ({
  status: 201,
  body: await keep(db, caller, searches, body),
}));

export const edit = handle(updateSearch, async ({ db }, { caller, params, body }) => ({
  status: 200,
  body: await changeKept(db, caller, searches, { ...body, id: params.id }),
}));

export const remove = handle(deleteSearch, async ({ db }, { caller, params }) => {
  await forgetKept(db, caller, searches, params.id);
  return { status: 204 };
});
