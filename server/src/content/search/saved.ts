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
import { handle } from '../../core/handle.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { changeSaved, deleteSaved, readSaved, type SavedQueries, saveQuery } from './saved-queries.ts';

type SavedSearchRow = Omit<SavedSearch, 'query'> & { query: unknown };

const compiled = compileLater(SavedQuery);

const searches: SavedQueries<SavedSearchRow, SavedSearch> = {
  singular: sentence('search'),
  plural: sentence('searches'),
  most: MOST_SEARCHES,
  table: sql.table('saved_searches'),
  columns: sql`k.id, k.name, k.query, k.created_at, k.updated_at`,
  order: sql`lower(k.name), k.id`,
  begins: null,
  touched: sql`, updated_at = now()`,
  show: ({ query, ...row }) => ({ ...row, query: compiled().Check(query) ? query : {} }),
};

export const list = handle(listSearches, async ({ db }, { caller }) => ({
  status: 200,
  body: await readSaved(db, caller, searches),
}));

export const create = handle(createSearch, async ({ db }, { caller, body }) => ({
  status: 201,
  body: await saveQuery(db, caller, searches, body),
}));

export const edit = handle(updateSearch, async ({ db }, { caller, params, body }) => ({
  status: 200,
  body: await changeSaved(db, caller, searches, { ...body, id: params.id }),
}));

export const remove = handle(deleteSearch, async ({ db }, { caller, params }) => {
  await deleteSaved(db, caller, searches, params.id);
  return { status: 204 };
});
