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
import { type RawBuilder, sql } from 'kysely';
import { Compile } from 'typebox/compile';
import type { SignedIn } from '../access/caller.ts';
import type { Database, Tx } from '../platform/database/pool.ts';
import { handle } from '../platform/http/bind.ts';
import { notFound, refuse } from '../platform/http/refuse.ts';

interface ViewRow {
  id: string;
  name: string;
  query: unknown;
  position: number;
  created_at: string;
}

const compiled = Compile(FeedViewQuery);
const columns = sql`v.id, v.name, v.query, v.position, v.created_at`;

function showView({ query, ...row }: ViewRow): FeedView {
  return { ...row, query: compiled.Check(query) ? query : {} };
}

/** Views are their account's alone; another's is not there. */
async function readViews(db: Database, caller: SignedIn, which: RawBuilder<boolean>): Promise<FeedView[]> {
  const { rows } = await sql<ViewRow>`select ${columns} from feed_views v
    where v.user_ref = ${caller.ref} and ${which} order by v.position, v.created_at, v.id`.execute(db);
  return rows.map(showView);
}

export const list = handle(listFeedViews, async ({ db }, { caller }) => ({
  status: 200,
  body: await readViews(db, caller, sql`true`),
}));

/** An account's views change one request at a time. */
async function lockViews(tx: Tx, caller: SignedIn): Promise<FeedView[]> {
  await sql`select from users where ref = ${caller.ref} for no key update`.execute(tx);
  return readViews(tx, caller, sql`true`);
}

async function checkName(tx: Tx, caller: SignedIn, name: string, except: string | null): Promise<void> {
  const same = await readViews(tx, caller, sql`lower(v.name) = lower(${name})`);
  if (same.some((view) => view.id !== except)) throw refuse(409, 'a view has that name already');
}

export const create = handle(createFeedView, async ({ db }, { caller, body }) => {
  const name = body.name.trim();
  const view = await db.transaction().execute(async (tx) => {
    const views = await lockViews(tx, caller);
    if (views.length >= MOST_VIEWS) throw refuse(409, `no more than ${MOST_VIEWS} views can be kept`);
    await checkName(tx, caller, name, null);
    const position = Math.max(-1, ...views.map((one) => one.position)) + 1;
    const { rows } = await sql<ViewRow>`insert into feed_views as v (user_ref, name, query, position)
      values (${caller.ref}, ${name}, ${JSON.stringify(body.query)}::jsonb, ${position}) returning ${columns}`.execute(
      tx,
    );
    const [row] = rows;
    if (row === undefined) throw new Error('an insert answers its row');
    return showView(row);
  });
  return { status: 201, body: view };
});

export const edit = handle(updateFeedView, async ({ db }, { caller, params, body }) => {
  const view = await db.transaction().execute(async (tx) => {
    await lockViews(tx, caller);
    const [before] = await readViews(tx, caller, sql`v.id = ${params.id}`);
    if (before === undefined) throw notFound();
    const name = body.name?.trim() ?? before.name;
    const query = body.query ?? before.query;
    await checkName(tx, caller, name, before.id);
    await tx
      .updateTable('feed_views')
      .set({ name, query: JSON.stringify(query) })
      .where('id', '=', before.id)
      .execute();
    return { ...before, name, query };
  });
  return { status: 200, body: view };
});

export const remove = handle(deleteFeedView, async ({ db }, { caller, params }) => {
  const gone = await db
    .deleteFrom('feed_views')
    .where('id', '=', params.id)
    .where('user_ref', '=', caller.ref)
    .returning('id')
    .executeTakeFirst();
  if (gone === undefined) throw notFound();
  return { status: 204 };
});

export const order = handle(orderFeedViews, async ({ db }, { caller, body }) => {
  const wanted = body.view_ids.map((id) => id.toLowerCase());
  if (new Set(wanted).size !== wanted.length) throw refuse(400, 'body.view_ids names a view twice');
  await db.transaction().execute(async (tx) => {
    const own = new Set((await lockViews(tx, caller)).map((view) => view.id));
    if (own.size !== wanted.length || wanted.some((id) => !own.has(id))) {
      throw refuse(409, 'the views are others by now');
    }
    await sql`update feed_views v set position = t.place - 1
      from unnest(${wanted}::uuid[]) with ordinality as t (id, place) where v.id = t.id`.execute(tx);
  });
  return { status: 204 };
});
