import { addressKeys, type TextKey, wordKeys } from '@vitrine/contract/texts';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';

let library: Library;
let root: Account;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
});

beforeEach(async () => {
  await library.deps.db.deleteFrom('settings').where('key', '=', 'texts').execute();
});

const put = (texts: unknown) => root.send('/admin/system/texts', { method: 'PUT', body: { texts } });
const shown = async () => (await library.anonymous().ok('getAppearance')).texts ?? {};

// ADMIN-8
describe('the operator’s own words', () => {
  test('are empty by default and can be removed', async () => {
    expect(await library.anonymous().ok('getAppearance')).not.toHaveProperty('texts');
    const texts = {
      welcome_title: 'Hello',
      footer: 'Made with care',
      imprint_url: 'https://example.org/imprint',
    };
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
    for (const address of [
      'http://localhost:8420/a?b=c#d',
      'https://[2001:db8::1]/x',
      'https://example.org',
    ]) {
      expect((await put(all(address))).status).toBe(200);
      expect(await shown()).toEqual(all(address));
    }
    const invalid = [
      'example.org',
      '/imprint',
      '//example.org',
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      'data:text/html,x',
      'ftp://example.org',
      'https://',
      'https:// x',
      'https://two words',
      ' https://example.org',
      'https://example.org\n',
      'https://[2001:db8::1',
      'https://%',
    ];
    for (const address of invalid)
      for (const key of addressKeys)
        expect([key, address, (await put({ [key]: address })).status]).toEqual([key, address, 400]);
    expect(await shown()).toEqual(all('https://example.org'));
  });

  // ADMIN-8
  test('are audited by name without the text', async () => {
    const key: TextKey = 'footer';
    await put({ [key]: 'one', welcome_text: 'same' });
    await put({ [key]: 'two', welcome_text: 'same', terms_url: 'https://example.org' });
    const events = await auditEvents(library, { event: 'system.texts.changed', actor_user_ref: root.ref });
    expect(events.slice(-2).map(({ metadata }) => metadata)).toEqual([
      { changed: ['footer', 'welcome_text'] },
      { changed: ['footer', 'terms_url'] },
    ]);
  });
});
