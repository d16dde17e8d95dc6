import { describe, expect, test } from 'vitest';
import { preferredLanguage } from '../../src/platform/language/preferred.ts';
import { say, sayCount } from '../../src/platform/language/say.ts';
import { sayStored, sentence, sentenceCount, storedForm } from '../../src/platform/language/sentence.ts';
import { mp4 } from '../media/tagged-files.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

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

// LANGUAGE-8
describe('a sentence that is stored', () => {
  const title = 'a title: “{who}”, 100 % {"text":';

  test('is said in the language of its reader, with its values', () => {
    const stored = storedForm(
      sentence('row {row}: {reason}', {
        row: 1200,
        reason: sentence('the file is damaged: {reason}', { reason: title }),
      }),
    );
    expect(sayStored('en', stored)).toBe(`row 1,200: the file is damaged: ${title}`);
    expect(sayStored('de', stored)).toBe(`Zeile 1.200: die Datei ist beschädigt: ${title}`);
    const counted = storedForm(sentenceCount(2, ['# stack made', '# stacks made']));
    expect(sayStored('en', counted)).toBe('2 stacks made');
  });

  test('is its English text if it has no values', () => {
    expect(storedForm(sentence('not found'))).toBe('not found');
    expect(sayStored('de', 'not found')).toBe('nicht gefunden');
  });

  test('is as it is if an earlier version has stored it in other words', () => {
    for (const stored of ['it answers with 500', '{"reason": 1}', ''])
      expect(sayStored('de', stored)).toBe(stored);
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
  const library = await openLibrary();
  const { address } = library;
  const root = await library.join('root', 'admin');
  const photo = await upload(root, plainFile(), { title: '' });
  const film = await upload(root, Uint8Array.from(mp4(1)), {}, 'film.mp4');
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

  function form(content: string, fields = 0): FormData {
    const body = new FormData();
    for (let at = 0; at < fields; at += 1) body.append(`field_${at}`, 'x');
    body.append('file', new Blob([content]), 'file');
    return body;
  }

  async function sent(who: Visitor, path: string, init: object, language: string) {
    const response = await who.send(path, { ...init, headers: { 'accept-language': language } });
    return { ...JSON.parse(response.text), code: response.headers.get('vitrine-error') };
  }

  const longTitle = `id,title\n${photo.id},${'x'.repeat(501)}`;
  test.each([
    [
      'a cell that its field does not allow',
      '/assets/import.csv',
      { method: 'POST', body: form(longTitle) },
      'row 2, column title: title is longer than 500 characters',
      'Zeile 2, Spalte title: title hat mehr Zeichen als 500',
    ],
    [
      'a table that cannot be read',
      '/assets/import.csv',
      { method: 'POST', body: form(`id,title\n${photo.id},"x`) },
      'row 2: a quotation mark is opened here or below and never closed',
      'Zeile 2: ein Anführungszeichen wird hier oder weiter unten geöffnet und nie geschlossen',
    ],
    [
      'a file without subtitles',
      `/assets/${film.id}/subtitles/de`,
      { method: 'PUT', body: form('hello') },
      'the file is not SRT, WebVTT, ASS, SSA, SBV, PGS or VobSub',
      'die Datei ist weder SRT noch WebVTT, ASS, SSA, SBV, PGS oder VobSub',
    ],
    [
      'a form with too many parts',
      '/assets',
      { method: 'POST', body: form('x', 120) },
      'the form has too many parts',
      'das Formular hat zu viele Teile',
    ],
    [
      'an option of a field, with a large number',
      '/fields',
      {
        method: 'POST',
        body: { code: 'note', label: 'Note', type: 'text', options: { max_length: -1 } },
      },
      'options: max_length is not a whole number from 0 to 1000000',
      'options: max_length ist ungültig; erwartet: eine ganze Zahl von 0 bis 1.000.000',
    ],
  ])(
    'has the reason in the same language, and in English in its code: %s',
    async (_, path, init, english, german) => {
      const due = await sent(root, path, init, 'en');
      expect(due.error).toBe(english);
      expect(await sent(root, path, init, 'de')).toEqual({ error: german, code: due.code });
    },
  );

  // LANGUAGE-8
  test('has the same language as the reasons against rows of a table', async () => {
    const reasonsOf = async (path: string, table: string, language: string) => {
      const { refused } = await sent(root, path, { method: 'POST', body: form(table) }, language);
      return refused.map(({ reason }: { reason: string }) => reason);
    };
    const unknown = `id,title\n00000000-0000-4000-8000-000000000000,x\n`;
    const assets = (language: string) => reasonsOf('/assets/import.csv?dry_run=true', unknown, language);
    expect([await assets('en'), await assets('de')]).toEqual([['not found'], ['nicht gefunden']]);
    const people = 'username,teams\nnora,none\nnora,\n';
    const accounts = (language: string) =>
      reasonsOf('/admin/users/import.csv?dry_run=true', people, language);
    expect(await accounts('en')).toEqual(['there is no team none', 'nora is in row 2, too']);
    expect(await accounts('de')).toEqual(['es gibt kein Team none', 'nora steht auch in Zeile 2']);
  });
});
