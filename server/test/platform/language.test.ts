import { describe, expect, test } from 'vitest';
import { preferredLanguage } from '../../src/platform/language/preferred.ts';
import { say, sayCount } from '../../src/platform/language/say.ts';

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
