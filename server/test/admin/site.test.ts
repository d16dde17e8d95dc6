import { addressKeys, wordKeys } from '@vitrine/contract/texts';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEvents, auditEventsDuring } from '../support/audit.ts';
import { openLibrary } from '../support/library.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');

const fresh = { site_name: 'Vitrine', base_url: null, default_sensitivity: 'posts', indexing: true };

beforeEach(async () => {
  const keys = ['site_name', 'base_url', 'texts'];
  await library.deps.db.deleteFrom('settings').where('key', 'in', keys).execute();
});

const change = (body: unknown) => root.send('/admin/system/site', { method: 'PATCH', body });
const site = () => root.ok('getSite');

// ADMIN-1
describe('the site’s name', () => {
  test('is the product’s by default; a new one is trimmed and shown to everyone immediately', async () => {
    expect(await site()).toEqual(fresh);
    const answer = await root.ok('updateSite', { body: { site_name: '  Glass house\t' } });
    expect(answer).toEqual({ ...fresh, site_name: 'Glass house' });
    expect(await site()).toEqual(answer);
    for (const site_name of ['x', 'x'.repeat(200), 'Bücher & <b>Bilder</b>', '写真館', 'null']) {
      expect(await root.ok('updateSite', { body: { site_name } })).toMatchObject({ site_name });
      expect((await library.anonymous().ok('getAppearance')).site_name).toBe(site_name);
    }
  });

  test('may not be blank', async () => {
    for (const site_name of [' ', '\t\n'])
      expect((await change({ site_name, base_url: 'https://pictures.example' })).status).toBe(400);
    expect(await site()).toEqual(fresh);
  });
});

describe('the public address', () => {
  test('is kept without slashes at its end', async () => {
    for (const [given, kept] of [
      ['https://pictures.example', 'https://pictures.example'],
      ['http://localhost:8420', 'http://localhost:8420'],
      ['https://example.org/library/', 'https://example.org/library'],
      ['https://example.org//', 'https://example.org'],
      ['https://[2001:db8::1]:8443', 'https://[2001:db8::1]:8443'],
    ] as const) {
      const shown = { ...fresh, base_url: kept };
      expect(await root.ok('updateSite', { body: { base_url: given } })).toEqual(shown);
      expect(await site()).toEqual(shown);
    }
  });

  const invalid = [
    ...['', '//pictures.example', 'ftp://pictures.example', 'javascript:alert(1)', 'https:///library'],
    ...['https://two words.example', ' https://pictures.example', 'https://pictures.example/?q=1'],
    ...['https://pictures.example/#top', 'https://pictures.example:99999', 'https://%'],
    ...['https://user:secret@pictures.example', `https://${'x'.repeat(500)}.example`],
  ];
  test('is an http(s) address without credentials, query and fragment; others are 400', async () => {
    await root.ok('updateSite', { body: { base_url: 'https://before.example' } });
    for (const base_url of invalid) {
      const { status, text } = await change({ site_name: 'Taken over', base_url });
      expect([base_url, status, text]).toEqual([base_url, 400, expect.stringContaining('base_url')]);
    }
    expect(await site()).toEqual({ ...fresh, base_url: 'https://before.example' });
  });

  test('and the name are unchanged when absent or null; clear_base_url removes the address', async () => {
    const base_url = 'https://pictures.example';
    await root.ok('updateSite', { body: { base_url, site_name: 'Glass house' } });
    const unchanged = { ...fresh, base_url, site_name: 'Glass house' };
    for (const body of [{}, { base_url: null }, { site_name: null }, { clear_base_url: false }])
      expect(await root.ok('updateSite', { body })).toEqual(unchanged);
    for (const body of [{ clear_base_url: true }, { clear_base_url: true, base_url: null }])
      expect((await root.ok('updateSite', { body })).base_url).toBeNull();
    const both = { base_url, clear_base_url: true };
    expect(await root.refused('updateSite', { body: both })).toEqual({
      status: 400,
      error: 'clear_base_url and base_url are mutually exclusive',
    });
  });
});

describe('PATCH /admin/system/site', () => {
  // ADMIN-10
  test('keeps two concurrent changes of different properties', async () => {
    for (let round = 0; round < 3; round += 1) {
      const [site_name, base_url] = [`Round ${round}`, `https://round-${round}.example`];
      await Promise.all([
        root.ok('updateSite', { body: { site_name } }),
        root.ok('updateSite', { body: { base_url } }),
      ]);
      expect(await site()).toEqual({ ...fresh, site_name, base_url });
    }
  });

  test('is audited with its values', async () => {
    const given = { site_name: 'Glass house', base_url: 'https://pictures.example' };
    const metadata = { ...given, default_sensitivity: null, indexing: null };
    const events = await auditEventsDuring(library, async () => {
      await root.ok('updateSite', { body: given });
      await root.refused('updateSite', { body: { base_url: 'http://%' } });
    });
    expect(events).toMatchObject([{ event: 'system.site.changed', actor_user_ref: root.ref, metadata }]);
  });
});

// SETTING-9
test('an address that the environment sets takes precedence over a stored one, which is still validated', async () => {
  const environment = 'https://environment.example';
  const fixed = await openLibrary({ VITRINE_BASE_URL: `${environment}/` });
  const chief = await fixed.join('chief', 'admin');
  expect(await chief.ok('getSite')).toEqual({ ...fresh, base_url: environment });
  const stored = { base_url: 'https://stored.example', site_name: 'Glass house' };
  const shown = { ...fresh, site_name: 'Glass house', base_url: environment };
  expect(await chief.ok('updateSite', { body: stored })).toEqual(shown);
  expect(await chief.ok('getSite')).toEqual(shown);
  expect(await chief.ok('updateSite', { body: { clear_base_url: true } })).toEqual(shown);
  expect((await chief.refused('updateSite', { body: { base_url: 'http://%' } })).status).toBe(400);
});

// ADMIN-8
describe('the operator’s own words', () => {
  const put = (texts: unknown) => root.send('/admin/system/texts', { method: 'PUT', body: { texts } });
  const shown = async () => (await library.anonymous().ok('getAppearance')).texts ?? {};

  test('are empty by default and can be removed', async () => {
    expect(await library.anonymous().ok('getAppearance')).not.toHaveProperty('texts');
    const texts = { welcome_title: 'Hello', footer: 'With care', imprint_url: 'https://example.org/imprint' };
    expect(await root.ok('setTexts', { body: { texts } })).toEqual({ texts });
    expect(await root.ok('getAdminTexts')).toEqual({ texts });
    // Everyone is shown them, whether or not public mode is on.
    for (const publicMode of [true, false]) {
      await library.setPublicMode(publicMode);
      expect(await shown()).toEqual(texts);
    }
    await put({ welcome_title: ' \n ', footer: ' kept ', imprint_url: '', terms_url: null });
    expect(await shown()).toEqual({ footer: 'kept' });
    await put({});
    expect(await shown()).toEqual({});
  });

  // ADMIN-8
  test('are stored unchanged as plain text', async () => {
    const text = '<b>Bücher</b> & [x](javascript:alert(1))\n\n夕焼け'.padEnd(2000, 'x');
    const texts = Object.fromEntries(wordKeys.map((key) => [key, text]));
    expect(await root.ok('setTexts', { body: { texts } })).toEqual({ texts });
    expect(await shown()).toEqual(texts);
  });

  // ADMIN-8
  test('have http(s) addresses', async () => {
    const all = (address: string) => Object.fromEntries(addressKeys.map((key) => [key, address]));
    const valid = ['http://localhost:8420/a?b=c#d', 'https://[2001:db8::1]/x', 'https://example.org'];
    for (const address of valid) {
      expect((await put(all(address))).status).toBe(200);
      expect(await shown()).toEqual(all(address));
    }
    const invalid = [
      ...['example.org', '//example.org', 'JavaScript:alert(1)', 'data:text/html,x', 'ftp://example.org'],
      ...['https://', 'https://two words', ' https://example.org', 'https://example.org\n'],
    ];
    for (const address of invalid)
      for (const key of addressKeys)
        expect([key, address, (await put({ [key]: address })).status]).toEqual([key, address, 400]);
    expect(await shown()).toEqual(all('https://example.org'));
  });

  // ADMIN-8
  test('are audited by name without the text', async () => {
    await put({ footer: 'one', welcome_text: 'same' });
    await put({ footer: 'two', welcome_text: 'same', terms_url: 'https://example.org' });
    const events = await auditEvents(library, { event: 'system.texts.changed', actor_user_ref: root.ref });
    expect(events.slice(-2).map(({ metadata }) => metadata)).toEqual([
      { changed: ['footer', 'welcome_text'] },
      { changed: ['footer', 'terms_url'] },
    ]);
  });
});
