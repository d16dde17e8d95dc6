import {
  createFeedView,
  deleteFeedView,
  type FeedView,
  FeedViewQuery,
  listFeedViews,
  MOST_VIEWS,
  orderFeedViews,
  updateFeedView,
} from '@vitrine/contract/feed-views';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { sentence } from '../../platform/language/sentence.ts';
import {
  changeSaved,
  deleteSaved,
  lockSaved,
  readSaved,
  type SavedQueries,
  saveQuery,
} from './saved-queries.ts';

type FeedViewRow = Omit<FeedView, 'query'> & { query: unknown };

const compiled = compileLater(FeedViewQuery);

const views: SavedQueries<FeedViewRow, FeedView> = {
  singular: sentence('view'),
  plural: sentence('views'),
  most: MOST_VIEWS,
  table: sql.table('feed_views'),
  columns: sql`k.id, k.name, k.query, k.position, k.created_at`,
  order: sql`k.position, k.created_at, k.id`,
  begins: {
    column: sql`position`,
    value: (caller) =>
      sql`(select coalesce(max(v.position), -1) + 1 from feed_views v where v.user_ref = ${caller.ref})`,
  },
  touched: sql``,
  show: ({ query, ...row }) => ({ ...row, query: compiled().Check(query) ? query : {} }),
};

export const list = handle(listFeedViews, async ({ db }, { caller }) => ({
  status: 200,
  body: await readSaved(db, caller, views),
}));

export const create = handle(createFeedView, async ({ db }, { caller, body }) => ({
  status: 201,
  body: await saveQuery(db, caller, views, body),
}));

export const edit = handle(updateFeedView, async ({ db }, { caller, params, body }) => ({
  status: 200,
  body: await changeSaved(db, caller, views, { ...body, id: params.id }),
}));

export const remove = handle(deleteFeedView, async ({ db }, { caller, params }) => {
  await deleteSaved(db, caller, views, params.id);
  return { status: 204 };
});

export const order = handle(orderFeedViews, async ({ db }, { caller, body }) => {
  const wanted = body.view_ids;
  if (new Set(wanted).size !== wanted.length) throw refuse('views-repeated');
  await db.transaction().execute(async (tx) => {
    const own = new Set((await lockSaved(tx, caller, views)).map((view) => view.id));
    if (own.size !== wanted.length || wanted.some((id) => !own.has(id))) {
      throw refuse('views-changed');
    }
    await sql`update feed_views v set position = t.place - 1
      from unnest(${wanted}::uuid[]) with ordinality as t (id, place) where v.id = t.id`.execute(tx);
  });
  return { status: 204 };
});
