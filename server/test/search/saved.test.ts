import { beforeAll, describe, expect, test } from 'vitest';
import { arrive, nowhere } from '../posts/people.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';

let library: Library;
let mara: Account;
let ines: Account;

beforeAll(async () => {
  library = await openLibrary();
  [mara, ines] = await Promise.all([arrive(library, 'mara'), arrive(library, 'ines')]);
});

describe('searches an account keeps', () => {
  test('are private, listed by name, editable and removable', async () => {
    const query = {
      q: '"red kite" -bird',
      kind: 'asset' as const,
      filter: ['field:title~a'],
      sort: 'newest' as const,
    };
    const kept = await mara.ok('createSearch', { body: { name: ' Kites ', query } });
    expect(kept).toMatchObject({ name: 'Kites', query });
    await mara.ok('createSearch', { body: { name: 'all', query: {} } });
    expect((await mara.ok('listSearches')).map(({ name }) => name)).toEqual(['all', 'Kites']);
    expect(await ines.ok('listSearches')).toEqual([]);
    for (const id of [kept.id, nowhere]) {
      expect((await ines.refused('updateSearch', { params: { id }, body: { name: 'mine' } })).status).toBe(
        404,
      );
      expect((await ines.refused('deleteSearch', { params: { id } })).status).toBe(404);
    }
    const renamed = await mara.ok('updateSearch', {
      params: { id: kept.id },
      body: { name: 'Birds', query: null },
    });
    expect([renamed.name, renamed.query]).toEqual(['Birds', query]);
    const asked = { params: { id: kept.id }, body: { name: null } };
    expect(await mara.ok('updateSearch', asked)).toEqual(renamed);
    await mara.ok('deleteSearch', { params: { id: kept.id } });
    expect((await mara.ok('listSearches')).map(({ name }) => name)).toEqual(['all']);
  });

  // PREFERENCE-7
  test('have unique names and are limited to a hundred, also for concurrent requests', async () => {
    expect((await mara.refused('createSearch', { body: { name: 'ALL', query: {} } })).status).toBe(409);
    const answers = await Promise.all(
      Array.from({ length: 105 }, (_, n) =>
        ines.send('/account/searches', { method: 'POST', body: { name: `search ${n}`, query: {} } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201).length).toBe(100);
    expect((await ines.ok('listSearches')).length).toBe(100);
  });

  test('are refused if they contain unknown filters', async () => {
    for (const body of [
      { name: '', query: {} },
      { name: 'x'.repeat(101), query: {} },
      { name: 'a\u0000', query: {} },
      { name: 'b', query: { q: 'a\u0000' } },
      { name: 'c', query: { limit: 5 } },
      { name: 'd', query: { q: 'x'.repeat(1001) } },
      { name: 'e' },
    ])
      expect((await mara.send('/account/searches', { method: 'POST', body })).status).toBe(400);
    expect((await library.anonymous().refused('listSearches')).status).toBe(401);
  });
});
