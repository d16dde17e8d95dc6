import type { BodyOf } from '@vitrine/contract/operation';
import type { Preferences, updatePreferences } from '@vitrine/contract/preferences';
import { beforeEach, describe, expect, test } from 'vitest';
import { openLibrary } from '../support/library.ts';
import { actAs } from '../support/people.ts';

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
const teamLists = { hidden_team_ids: [teamA], team_order: [teamB, teamA] };
const chosen: Preferences = {
  default_views: { feed: 'following', layout: 'masonry', sort: 'oldest' },
  feed_filters: { show_restricted: true },
  browse_rail: { ...teamLists, hidden_tags: ['snow'], tag_order: ['b', 'a'] },
  mature_content: { show: true },
  language: 'pt-BR',
  theme: 'system',
};
const filters = ['feed_filters', 'browse_rail', 'mature_content'] as const;
const members = ['default_views', ...filters, 'language', 'theme'] as const;
const rails = ['hidden_team_ids', 'team_order', 'hidden_tags', 'tag_order'] as const;

const library = await openLibrary();
const mara = await library.join('mara');

async function store(preferences: unknown): Promise<void> {
  await library.deps.db
    .updateTable('users')
    .set({ preferences: JSON.stringify(preferences) })
    .where('ref', '=', mara.ref)
    .execute();
}

const change = (body: Change) => mara.ok('updatePreferences', { body });
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

  // PREFERENCE-1
  test('can all be changed at once, and are unchanged where absent or null', async () => {
    expect(await change(chosen)).toEqual(chosen);
    expect(await mara.ok('getPreferences')).toEqual(chosen);
    const nina = await library.join('nina');
    expect(await nina.ok('getPreferences')).toEqual(unset);
    const nothing = Object.fromEntries(members.map((member) => [member, null]));
    for (const body of [{}, nothing]) expect(await change(body)).toEqual(chosen);
    for (const member of members) {
      const changed = { ...chosen, [member]: unset[member] };
      expect(await change({ ...nothing, [member]: unset[member] })).toEqual(changed);
      await change(chosen);
    }
  });

  // PREFERENCE-1
  test('replaces a sent object as a whole', async () => {
    await change(chosen);
    const browse_rail = { ...unset.browse_rail, hidden_tags: ['rain'] };
    expect(await change({ browse_rail })).toEqual({ ...chosen, browse_rail });
    const default_views = { feed: 'team', layout: '', sort: '' } as const;
    expect(await change({ default_views })).toEqual({ ...chosen, browse_rail, default_views });
  });

  // PREFERENCE-2, PREFERENCE-3
  test('accepts every view, layout, order and theme', async () => {
    const feeds = ['', 'latest', 'trending', 'following', 'team', ''] as const;
    const layouts = ['', 'grid', 'masonry', 'thumbnail', 'list', 'feed'] as const;
    const sorts = ['', 'newest', 'oldest'] as const;
    const themes = ['', 'light', 'dark', 'system'] as const;
    for (const [i, layout] of layouts.entries()) {
      const default_views = { feed: feeds[i] ?? '', layout, sort: sorts[i % 3] ?? '' };
      const theme = themes[i % 4] ?? '';
      expect(await change({ default_views, theme })).toMatchObject({ default_views, theme });
    }
  });

  // PREFERENCE-4
  test('accept a language tag and store it as sent', async () => {
    const languages = ['', 'de', 'DE', 'de-CH', 'zh-Hant-TW', 'gsw', 'de-CH-1996', 'es-419'];
    for (const language of [...languages, 'sl-rozaj-biske', 'en-US-u-hc-h12', 'en-x-fancy']) {
      expect((await change({ language })).language).toBe(language);
      expect((await mara.ok('getMe')).language).toBe(language);
    }
  });

  // PREFERENCE-4
  test('return 400 for a text that is no language tag', async () => {
    const texts = ['e', 'de_CH', 'de-', '-de', 'de--CH', 'german language', 'de-CHCHCHCHC', 'de\n', ' de'];
    for (const language of [...texts, 'dé', '1996', `de${'-abcdefgh'.repeat(4)}`, '../etc']) {
      const status = await mara.status('PATCH', '/account/preferences', { language });
      expect([language, status]).toEqual([language, 400]);
    }
  });

  test('keep 200 entries of each list', async () => {
    const ids = Array.from({ length: 200 }, (_, i) => `${teamA.slice(0, -3)}${String(i).padStart(3, '0')}`);
    const tags = ids.map((_, i) => `tag ${i}`);
    const browse_rail = { hidden_team_ids: ids, team_order: ids, hidden_tags: tags, tag_order: tags };
    expect((await change({ browse_rail })).browse_rail).toEqual(browse_rail);
  });

  test('keep all of ten concurrent changes', async () => {
    const changes = Array.from({ length: 10 }, (_, i) => {
      const member = members[i % members.length] ?? 'theme';
      return change({ [member]: chosen[member] });
    });
    await Promise.all(changes);
    expect(await mara.ok('getPreferences')).toEqual(chosen);
  });
});

// SESSION-10
describe('the session user', () => {
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
      await change({ ...chosen, [name]: unset[name] });
      expect(await shown()).toEqual(filters.filter((other) => other !== name));
    }
    await change(unset);
    expect(await shown()).toEqual([]);
    const { language, theme, default_views } = unset;
    expect(await mara.ok('getMe')).toMatchObject({ language, theme, default_views });
  });

  test('returns a rail completely even if only one of its lists has entries', async () => {
    for (const list of rails) {
      const browse_rail = { ...unset.browse_rail, [list]: chosen.browse_rail[list] };
      await change({ browse_rail });
      expect((await mara.ok('getMe')).browse_rail).toEqual(browse_rail);
    }
  });
});

// PREFERENCE-6
test('an impersonation uses the target’s preferences, and keeps the administrator’s', async () => {
  const root = await library.join('root', 'admin');
  await root.ok('updatePreferences', { body: { theme: 'light' } });
  const mask = await actAs(library, root, mara);
  expect(await mask.ok('getPreferences')).toEqual(unset);
  await mask.ok('updatePreferences', { body: { theme: 'dark' } });
  expect((await mara.ok('getPreferences')).theme).toBe('dark');
  expect((await root.ok('getPreferences')).theme).toBe('light');
});
