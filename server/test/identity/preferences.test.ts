import type { BodyOf } from '@vitrine/contract/operation';
import type { Preferences, updatePreferences } from '@vitrine/contract/preferences';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Account, type Library, openLibrary } from '../support/library.ts';

type Change = BodyOf<typeof updatePreferences>;

const unset: Preferences = {
  default_views: { feed: '', layout: '', sort: '' },
  feed_filters: { show_restricted: false },
  browse_rail: { hidden_team_ids: [], team_order: [], hidden_tags: [], tag_order: [] },
  mature_content: { show: false },
  language: '',
  theme: '',
};
const teamA = '00000000-0000-4000-8000-00000000000a';
const teamB = '00000000-0000-4000-8000-00000000000b';
const chosen: Preferences = {
  default_views: { feed: 'following', layout: 'masonry', sort: 'oldest' },
  feed_filters: { show_restricted: true },
  browse_rail: {
    hidden_team_ids: [teamA],
    team_order: [teamB, teamA],
    hidden_tags: ['snow'],
    tag_order: ['b', 'a'],
  },
  mature_content: { show: true },
  language: 'pt-BR',
  theme: 'system',
};
const members = [
  'default_views',
  'feed_filters',
  'browse_rail',
  'mature_content',
  'language',
  'theme',
] as const;

let library: Library;
let mara: Account;

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('mara');
});

async function store(preferences: unknown): Promise<void> {
  await library.deps.db
    .updateTable('users')
    .set({ preferences: JSON.stringify(preferences) })
    .where('ref', '=', mara.ref)
    .execute();
}

const change = (body: Change) => mara.ok('updatePreferences', { body });
const send = (body: unknown) =>
  mara.send('/account/preferences', { method: 'PATCH', body: JSON.stringify(body) });

beforeEach(() => store({}));

// PREFERENCE-1
describe('preferences', () => {
  // PREFERENCE-1
  test('have their defaults if they were never set', async () => {
    expect(await mara.ok('getPreferences')).toEqual(unset);
  });

  test('have their defaults if the stored value is invalid', async () => {
    for (const rubbish of [[], 'x', 5, { theme: 'pink' }, { browse_rail: null }]) {
      await store(rubbish);
      expect(await mara.ok('getPreferences')).toEqual(unset);
      expect((await mara.ok('getMe')).theme).toBe('');
    }
  });

  test('can all be changed at once, and are returned as stored', async () => {
    expect(await change(chosen)).toEqual(chosen);
    expect(await mara.ok('getPreferences')).toEqual(chosen);
    const nina = await library.join('nina');
    expect(await nina.ok('getPreferences')).toEqual(unset);
  });

  test('are unchanged where absent or null', async () => {
    await change(chosen);
    const nothing = {
      default_views: null,
      feed_filters: null,
      browse_rail: null,
      mature_content: null,
      language: null,
      theme: null,
    };
    for (const body of [{}, nothing]) expect(await change(body)).toEqual(chosen);
    for (const member of members) {
      expect(await change({ ...nothing, [member]: unset[member] })).toEqual({
        ...chosen,
        [member]: unset[member],
      });
      await change(chosen);
    }
  });

  // PREFERENCE-1
  test('replaces a sent object as a whole', async () => {
    await change(chosen);
    const browse_rail = { hidden_team_ids: [], team_order: [], hidden_tags: ['rain'], tag_order: [] };
    expect(await change({ browse_rail })).toEqual({ ...chosen, browse_rail });
    const default_views = { feed: 'team', layout: '', sort: '' } as const;
    expect(await change({ default_views })).toEqual({ ...chosen, browse_rail, default_views });
  });

  const choices = {
    feed: ['', 'latest', 'trending', 'following', 'team'],
    layout: ['', 'grid', 'masonry', 'thumbnail', 'list', 'feed'],
    sort: ['', 'newest', 'oldest'],
  } as const;

  // PREFERENCE-2, PREFERENCE-3
  test('accepts every view, layout, order and theme', async () => {
    for (const feed of choices.feed) {
      const default_views = { ...unset.default_views, feed };
      expect((await change({ default_views })).default_views).toEqual(default_views);
    }
    for (const layout of choices.layout) {
      const default_views = { ...unset.default_views, layout };
      expect((await change({ default_views })).default_views).toEqual(default_views);
    }
    for (const sort of choices.sort) {
      const default_views = { ...unset.default_views, sort };
      expect((await change({ default_views })).default_views).toEqual(default_views);
    }
    for (const theme of ['', 'light', 'dark', 'system'] as const) {
      expect((await change({ theme })).theme).toBe(theme);
    }
  });

  // PREFERENCE-4
  test.each([
    '',
    'de',
    'DE',
    'de-CH',
    'pt-BR',
    'zh-Hant-TW',
    'gsw',
    'sr-Latn-RS',
    'de-CH-1996',
    'es-419',
    'sl-rozaj-biske',
    'en-US-u-hc-h12',
    'en-x-fancy',
  ])('accepts the language %j and stores it as sent', async (language) => {
    expect((await change({ language })).language).toBe(language);
    expect((await mara.ok('getMe')).language).toBe(language);
  });

  // PREFERENCE-4
  test.each([
    'e',
    'de_CH',
    'de-',
    '-de',
    'de--CH',
    'german language',
    'de-CHCHCHCHC',
    'de\n',
    ' de',
    'dé',
    '1996',
    `de${'-abcdefgh'.repeat(4)}`,
    '../etc',
  ])('returns 400 for the language %j', async (language) => {
    expect((await send({ language })).status).toBe(400);
  });

  test.each(['hidden_team_ids', 'team_order', 'hidden_tags', 'tag_order'] as const)(
    '%s takes 200 entries and refuses 201',
    async (list) => {
      const entry = (i: number) =>
        list.includes('team') ? `00000000-0000-4000-8000-${String(i).padStart(12, '0')}` : `tag ${i}`;
      const rail = (length: number) => ({
        ...unset.browse_rail,
        [list]: Array.from({ length }, (_, i) => entry(i)),
      });
      expect((await change({ browse_rail: rail(200) })).browse_rail).toEqual(rail(200));
      expect((await send({ browse_rail: rail(201) })).status).toBe(400);
      expect((await mara.ok('getPreferences')).browse_rail).toEqual(rail(200));
    },
  );

  test('keep all of ten concurrent changes', async () => {
    for (let round = 0; round < 5; round += 1) {
      await store({});
      const changes = Array.from({ length: 10 }, (_, i) => {
        const member = members[i % members.length] ?? 'theme';
        return change({ [member]: chosen[member] });
      });
      await Promise.all(changes);
      expect(await mara.ok('getPreferences')).toEqual(chosen);
    }
  });
});

// SESSION-10
describe('the session user', () => {
  const filters = ['feed_filters', 'browse_rail', 'mature_content'] as const;
  const shown = async () => {
    const user = await mara.ok('getMe');
    return filters.filter((name) => name in user);
  };

  // SESSION-10
  test('shows changed preferences at the next request, without filters that were switched off', async () => {
    expect(await shown()).toEqual([]);
    await change(chosen);
    expect(await mara.ok('getMe')).toMatchObject(chosen);
    for (const name of filters) {
      await change({ [name]: unset[name] });
      expect(await shown()).toEqual(filters.filter((other) => other !== name));
      await change({ [name]: chosen[name] });
    }
    await change(unset);
    expect(await shown()).toEqual([]);
    expect(await mara.ok('getMe')).toMatchObject({
      language: '',
      theme: '',
      default_views: unset.default_views,
    });
  });

  test('returns a rail completely even if only one of its lists has entries', async () => {
    for (const list of ['hidden_team_ids', 'team_order', 'hidden_tags', 'tag_order'] as const) {
      const browse_rail = { ...unset.browse_rail, [list]: chosen.browse_rail[list] };
      await change({ browse_rail });
      expect((await mara.ok('getMe')).browse_rail).toEqual(browse_rail);
    }
  });
});

// PREFERENCE-6
describe('access to preferences', () => {
  // PREFERENCE-6
  test('uses the target’s preferences while impersonating, and keeps the administrator’s', async () => {
    const root = await library.join('root', 'admin');
    const masked = await library.join('masked', 'admin');
    await masked.ok('updatePreferences', { body: { theme: 'light' } });
    await masked.ok('impersonate', { params: { ref: mara.ref }, body: {} });
    expect(await masked.ok('getPreferences')).toEqual(unset);
    await masked.ok('updatePreferences', { body: { theme: 'dark' } });
    expect((await mara.ok('getPreferences')).theme).toBe('dark');
    await masked.ok('endImpersonation');
    expect((await masked.ok('getPreferences')).theme).toBe('light');
    expect((await root.ok('getPreferences')).theme).toBe('');
  });
});
