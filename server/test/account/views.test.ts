import type { FeedViewQuery } from '@vitrine/contract/feed-views';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary } from '../support/library.ts';
import { nowhere } from '../support/people.ts';

let made = 0;

const library = await openLibrary();

const someone = () => {
  made += 1;
  return library.join(`somebody ${made}`, 'viewer');
};
const keep = (who: Visitor, name: string, query: FeedViewQuery = {}) =>
  who.ok('createFeedView', { body: { name, query } });
const names = async (who: Visitor) => (await who.ok('listFeedViews')).map(({ name }) => name);
const statusOf = (who: Visitor, method: string, path: string, body?: unknown) =>
  who.status(method, `/account/views${path}`, body);

const everything: FeedViewQuery = {
  feed: 'following',
  sort: 'oldest',
  tag: ['sea', 'dusk'],
  author_ref: 7,
  team_id: nowhere,
  collection: nowhere,
  q: 'harbour',
  layout: 'masonry',
};

describe('saved views of the feed', () => {
  test('are stored unchanged except for spaces around the name, and listed in order', async () => {
    const ann = await someone();
    const first = await keep(ann, '  Harbour at dusk ', everything);
    expect(first).toMatchObject({ name: 'Harbour at dusk', query: everything, position: 0 });
    const second = await keep(ann, 'All');
    expect(await ann.ok('listFeedViews')).toEqual([first, second]);
  });

  test('can be renamed and replaced; null and absent properties stay unchanged', async () => {
    const ann = await someone();
    const view = await keep(ann, 'One', everything);
    const edit = (body: object) => ann.ok('updateFeedView', { params: { id: view.id }, body });
    expect(await edit({ name: null, query: null })).toEqual(view);
    expect(await edit({ name: ' Two ' })).toEqual({ ...view, name: 'Two' });
    expect(await edit({ query: { feed: 'trending' } })).toEqual({
      ...view,
      name: 'Two',
      query: { feed: 'trending' },
    });
    expect(await edit({ name: 'TWO' })).toMatchObject({ name: 'TWO' });
    expect(await ann.ok('listFeedViews')).toMatchObject([{ name: 'TWO', query: { feed: 'trending' } }]);
  });

  // PREFERENCE-7
  test('have unique names per account, ignoring case; two accounts may use the same name', async () => {
    const [ann, ben] = [await someone(), await someone()];
    await keep(ann, 'Übersicht');
    const other = await keep(ann, 'Other');
    await keep(ben, 'Übersicht');
    expect(await statusOf(ann, 'POST', '', { name: '  ', query: {} })).toBe(400);
    expect(await statusOf(ann, 'POST', '', { name: ' übersicht', query: {} })).toBe(409);
    expect(await statusOf(ann, 'PATCH', `/${other.id}`, { name: 'ÜBERSICHT' })).toBe(409);
    expect(await names(ann)).toEqual(['Übersicht', 'Other']);
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => statusOf(ben, 'POST', '', { name: 'At once', query: {} })),
    );
    expect(outcomes.sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  // PREFERENCE-7
  test('are 100 at most, also for many requests at once', async () => {
    const ann = await someone();
    await sql`insert into feed_views (user_ref, name, query, position)
      select ${ann.ref}, 'View ' || n, '{}', n from generate_series(0, 97) n`.execute(library.deps.db);
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, (_, i) => statusOf(ann, 'POST', '', { name: `More ${i}`, query: {} })),
    );
    expect(outcomes.sort()).toEqual([201, 201, 409, 409, 409]);
    expect(await names(ann)).toHaveLength(100);
  });

  // PREFERENCE-7
  test('are reordered by a list that names each of them once', async () => {
    const [ann, ben] = [await someone(), await someone()];
    const views = [await keep(ann, 'A'), await keep(ann, 'B'), await keep(ann, 'C')];
    const others = await keep(ben, 'X');
    const [a = '', b = '', c = ''] = views.map(({ id }) => id);
    const order = (view_ids: unknown) => statusOf(ann, 'PUT', '/order', { view_ids });
    expect(await order([a, b])).toBe(409);
    expect(await order([a, b, others.id])).toBe(409);
    expect(await order([a, b, c, others.id])).toBe(409);
    expect(await order([a, b, b])).toBe(400);
    expect(await names(ann)).toEqual(['A', 'B', 'C']);
    expect(await order([c, a.toUpperCase(), b])).toBe(204);
    expect(await names(ann)).toEqual(['C', 'A', 'B']);
    await ann.ok('deleteFeedView', { params: { id: a } });
    await keep(ann, 'D');
    expect(await names(ann)).toEqual(['C', 'B', 'D']);
  });
});
