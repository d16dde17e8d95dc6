import { describe, expect, test } from 'vitest';
import { openLibrary } from '../support/library.ts';

const library = await openLibrary();
const mara = await library.join('mara');

const namesOf = async () => (await mara.ok('listSearches')).map(({ name }) => name);

describe('searches an account keeps', () => {
  test('are listed by name, editable and removable, and have unique names', async () => {
    const filter = ['field:title~a'];
    const query = { q: '"red kite" -bird', kind: 'asset' as const, filter, sort: 'newest' as const };
    const kept = await mara.ok('createSearch', { body: { name: ' Kites ', query } });
    expect(kept).toMatchObject({ name: 'Kites', query });
    await mara.ok('createSearch', { body: { name: 'all', query: {} } });
    expect((await mara.refused('createSearch', { body: { name: 'ALL', query: {} } })).status).toBe(409);
    expect(await namesOf()).toEqual(['all', 'Kites']);
    const params = { id: kept.id };
    const renamed = await mara.ok('updateSearch', { params, body: { name: 'Birds', query: null } });
    expect([renamed.name, renamed.query]).toEqual(['Birds', query]);
    expect(await mara.ok('updateSearch', { params, body: { name: null } })).toEqual(renamed);
    await mara.ok('deleteSearch', { params });
    expect(await namesOf()).toEqual(['all']);
  });

  // PREFERENCE-7
  test('are limited to a hundred, also for concurrent requests', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 105 }, (_, n) =>
        mara.status('POST', '/account/searches', { name: `search ${n}`, query: {} }),
      ),
    );
    expect(statuses.filter((status) => status === 201).length).toBe(99);
    expect(await namesOf()).toHaveLength(100);
  });
});
