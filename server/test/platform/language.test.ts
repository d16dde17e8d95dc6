import { describe, expect, test } from 'vitest';
import { preferredLanguage } from '../../src/platform/language/preferred.ts';
import { say, sayCount } from '../../src/platform/language/say.ts';
import { openLibrary } from '../support/library.ts';

// LANGUAGE-4
describe('a text of the server', () => {
  test('has its values in the places that the translation gives them', () => {
    const values = { who: 'Mara', title: '{who}' };
    expect(say('en', '{who} approved “{title}”', values)).toBe('Mara approved “{who}”');
    expect(say('he', '{who} approved “{title}”', values)).toBe(
      'אישור של \u2068Mara\u2069 עבור ״\u2068{who}\u2069״',
    );
  });

  test('has numbers as the language writes them', () => {
    expect(say('de', 'page {page}', { page: 1200 })).toBe('Seite 1.200');
  });

  test('has the form of a count', () => {
    const words = (language: 'en' | 'pl' | 'ar' | 'ja', count: number) =>
      sayCount(language, count, ['{site}: # new notification', '{site}: # new notifications'], { site: 'V' });
    expect([1, 2].map((count) => words('en', count))).toEqual([
      'V: 1 new notification',
      'V: 2 new notifications',
    ]);
    expect([1, 3, 5].map((count) => words('pl', count))).toEqual([
      'V: 1 nowe powiadomienie',
      'V: 3 nowe powiadomienia',
      'V: 5 nowych powiadomień',
    ]);
    expect(words('ar', 2)).toBe('\u2068V\u2069: إشعاران جديدان');
    expect(words('ja', 2)).toBe('V: 新しい通知 2 件');
  });
});

// LANGUAGE-1
test.each([
  [{ language: 'de-AT' }, 'de'],
  [{ language: 'sv' }, 'en'],
  [{ language: '' }, null],
  [{ language: 7 }, null],
  [null, null],
])('preferences %j ask for %s', (preferences, language) => {
  expect(preferredLanguage(preferences)).toBe(language);
});

// LANGUAGE-9
describe('the text of an error', async () => {
  const { address } = await openLibrary();
  const longName = JSON.stringify({ username: 'x'.repeat(100_000), password: 'secret' });

  async function errorOf(path: string, headers: Record<string, string>, body?: string) {
    const init = body === undefined ? {} : { method: 'POST', body };
    const type = { 'content-type': 'application/json' };
    const response = await fetch(address + path, { ...init, headers: { ...type, ...headers } });
    return { ...(await response.json()), code: response.headers.get('vitrine-error') };
  }

  test.each([
    ['prefers German', { 'accept-language': 'de-AT, en;q=0.5' }, 'nicht gefunden'],
    ['has chosen French pages', { 'accept-language': 'de', cookie: 'language=fr' }, 'introuvable'],
    ['prefers no language', {}, 'not found'],
    ['prefers a language without pages', { 'accept-language': 'sv' }, 'not found'],
  ])('is for a client that %s in this language or in English', async (_, headers, error) => {
    expect(await errorOf('/api/v1/nothing', headers)).toEqual({ error, code: 'not-found' });
  });

  test('has its values in place, and the same code', async () => {
    const tooLong = (headers: Record<string, string>) => errorOf('/api/v1/auth/login', headers, longName);
    const { code } = await tooLong({});
    expect(code).toMatch(/^value-too-long;/);
    const german = await tooLong({ 'accept-language': 'de' });
    expect(german.code).toBe(code);
    expect(german.error).toMatch(/^username darf nicht mehr Zeichen haben als \d/);
  });

  test('is translated for an address that cannot be read', async () => {
    const { error, code } = await errorOf('/api/v1/%zz', { 'accept-language': 'de' });
    expect({ error, code }).toEqual({ error: 'fehlerhafte Adresse', code: 'malformed-address' });
  });
});
