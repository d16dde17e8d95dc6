import { addressKeys, type TextKey, wordKeys } from '@vitrine/contract/texts';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CallerOutcome, callersBefore, outcomeOf } from '../appearance/callers.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';

let library: Library;
let root: Account;
let readers: CallerOutcome[];
let writers: CallerOutcome[];

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  readers = await callersBefore(library, 'system.config.read');
  writers = await callersBefore(library, 'system.config.write');
});

beforeEach(async () => {
  await library.deps.db.deleteFrom('settings').where('key', '=', 'texts').execute();
});

const put = (texts: unknown) => root.send('/admin/system/texts', { method: 'PUT', body: { texts } });
const shown = async () => (await library.anonymous().ok('getAppearance')).texts ?? {};

describe.each([false, true])('with public mode on: %s', (publicMode) => {
  beforeAll(() => library.setPublicMode(publicMode));

  // ADMIN-8
  test('GET /appearance returns them to everyone', async () => {
    await put({ footer: 'Open all year' });
    for (const { visitor } of readers)
      expect((await visitor.ok('getAppearance')).texts).toEqual({ footer: 'Open all year' });
    expect(await shown()).toEqual({ footer: 'Open all year' });
  });

  test('GET and PUT /admin/system/texts need their capabilities', async () => {
    for (const { who, visitor, reading } of readers) {
      expect([who, await outcomeOf(visitor.ok('getAdminTexts'))]).toEqual([who, reading]);
    }
    for (const { who, visitor, writing } of writers) {
      const before = await shown();
      const act = visitor.ok('setTexts', { body: { texts: { footer: who } } });
      expect([who, await outcomeOf(act)]).toEqual([who, writing]);
      expect(await shown()).toEqual(writing === 'let in' ? { footer: who } : before);
    }
  });
});

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
    expect(await shown()).toEqual(texts);
    await put({ welcome_title: ' \n ', footer: ' kept ', imprint_url: '', terms_url: null });
    expect(await shown()).toEqual({ footer: 'kept' });
    await put({});
    expect(await shown()).toEqual({});
  });

  // ADMIN-8
  test.each(wordKeys)('%s is stored unchanged as plain text', async (key) => {
    const text = '<b>Bücher</b> & [x](javascript:alert(1))\n\n夕焼け';
    await put({ [key]: text });
    expect(await shown()).toEqual({ [key]: text });
    expect((await put({ [key]: 'x'.repeat(2000) })).status).toBe(200);
    expect((await put({ [key]: 'x'.repeat(2001) })).status).toBe(400);
  });

  test.each(addressKeys)('%s is an http(s) address', async (key) => {
    for (const address of [
      'https://example.org',
      'http://localhost:8420/a?b=c#d',
      'https://[2001:db8::1]/x',
    ]) {
      expect([address, (await put({ [key]: address })).status]).toEqual([address, 200]);
      expect(await shown()).toEqual({ [key]: address });
    }
    await put({ [key]: 'https://example.org' });
    for (const address of [
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
      `https://example.org/${'x'.repeat(2000)}`,
    ]) {
      expect([address, (await put({ [key]: address })).status]).toEqual([address, 400]);
    }
    expect(await shown()).toEqual({ [key]: 'https://example.org' });
  });

  test.each([
    { unknown_key: 'x' },
    { footer: 5 },
    { footer: ['x'] },
    { footer: { html: 'x' } },
    { footer: 'a\0b' },
    { footer: '\ud800' },
    [],
    'x',
    null,
  ])('%j is 400, and nothing changes', async (texts) => {
    await put({ footer: 'before' });
    expect((await put(texts)).status).toBe(400);
    expect(await shown()).toEqual({ footer: 'before' });
  });

  // ADMIN-8
  test('are audited by name without the text', async () => {
    const key: TextKey = 'footer';
    await put({ [key]: 'one', welcome_text: 'same' });
    await put({ [key]: 'two', welcome_text: 'same', terms_url: 'https://example.org' });
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select(['actor_user_ref', 'metadata'])
      .where('event', '=', 'system.texts.changed')
      .where('actor_user_ref', '=', root.ref)
      .orderBy('occurred_at', 'desc')
      .limit(2)
      .execute();
    expect(events.map(({ metadata }) => metadata)).toEqual([
      { changed: ['footer', 'terms_url'] },
      { changed: ['footer', 'welcome_text'] },
    ]);
  });
});
