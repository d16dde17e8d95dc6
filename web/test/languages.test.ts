import { errorCodes } from '@vitrine/contract/errors/codes';
import { languageFor } from '@vitrine/contract/languages';
import { describe, expect, test } from 'vitest';
import { fill } from '#lib/languages/fill.ts';
import { plural } from '#lib/languages/plural.ts';
import { seededKind, seededLabel } from '#lib/translations/seeded.ts';
import { inPageLanguage } from '#lib/translations/shown.ts';
import { isSame, written } from '#lib/translations/written.ts';
import { checkCatalogue } from '../languages/check.ts';
import { extract } from '../languages/extract.ts';
import { localise, translationsOf } from '../languages/localise.ts';
import { markOf } from '../languages/marks.ts';
import { readServerMessages, serverTexts } from '../languages/server-texts.ts';

const textsOf = async (code: string, file = 'Page.svelte') =>
  (await extract(code, file)).messages.map(({ key }) => key);

describe('the texts of a component', () => {
  test('are those that people read, not codes, addresses and values that are compared', async () => {
    expect(
      await textsOf(`<script lang="ts">
  const kind = variant === 'Other' ? 'wide' : 'text-ink grid';
  const title = 'Your files';
  const path = \`/posts/\${id}\`;
  const isMove = event.key.startsWith('Arrow') || event.key === 'Home';
  const isDrop = event.dataTransfer?.types.includes('Files') ?? 'PublicKeyCredential' in window;
</script>
<a href="/assets" class="Big" aria-label="all files">{title}</a><kbd>Enter</kbd>`),
    ).toEqual(['Your files', 'all files']);
  });

  test('may begin with a quotation mark', async () => {
    const choices = '“Keep mine” saves your changes.';
    expect(await textsOf(`<ConflictDialog choices="${choices}" />`)).toEqual([choices]);
  });

  test('with values and elements are one text', async () => {
    expect(await textsOf('<p>You are signed in as <b>{name}</b>, with {count} files.</p>')).toEqual([
      'You are signed in as <0/>, with {0} files.',
    ]);
    expect(
      await textsOf("export const words = (n: number) => plural(n, ['# file', '# files']);", 'a.ts'),
    ).toEqual(['# file\n# files']);
  });
});

describe('the texts of the server', () => {
  test('are the literal arguments of its functions', () => {
    const code = `say(language, 'Hello {name},', { name }); console.log('listening');
      sayCount('de', files.length, ['# file', '# files']);`;
    expect(serverTexts(code, 'a.ts').map(({ key }) => key)).toEqual(['Hello {name},', '# file\n# files']);
  });

  test('must not be computed', () => {
    expect(() => serverTexts('\nsay(language, text)', 'a.ts')).toThrow(
      'a.ts:2: the text of say must be a literal',
    );
  });
});

test('errors are translated, except the words of the interface (LANGUAGE-9)', () => {
  const keys = new Set(readServerMessages().map(({ key }) => key));
  for (const { text } of Object.values(errorCodes)) expect(keys.has(text), text).toBe(text.includes(' '));
  const angled = { key: '{property} must be > {min}', forms: ['{property} must be > {min}'] };
  const catalogue = { [angled.key]: angled.key };
  expect(checkCatalogue('de', [{ ...angled, isPlain: true }], catalogue)).toEqual([]);
  expect(checkCatalogue('de', [angled], catalogue)).toHaveLength(1);
});

describe('a catalogue (LANGUAGE-3)', () => {
  const messages = [
    { key: 'Share {0}', forms: ['Share {0}'] },
    { key: '# file\n# files', forms: ['# file', '# files'] },
  ];
  const complete = { 'Share {0}': '{0} teilen', '# file\n# files': { one: '# Datei', other: '# Dateien' } };

  test('is complete', () => {
    expect(checkCatalogue('de', messages, complete)).toEqual([]);
  });

  test.each([
    ['a missing text', { ...complete, 'Share {0}': undefined }, 'is missing'],
    ['a missing placeholder', { ...complete, 'Share {0}': 'Teilen' }, 'has other placeholders'],
    ['markup', { ...complete, 'Share {0}': '<img src=x>{0}' }, 'contains markup'],
    [
      'a straight double quote',
      { ...complete, 'Share {0}': '"{0}" teilen' },
      'contains a straight double quote',
    ],
    ['an unused text', { ...complete, Old: 'Alt' }, 'is not used'],
  ])('has a problem with %s', (_, catalogue, problem) => {
    // A JSON file has no undefined.
    const [found, ...others] = checkCatalogue('de', messages, JSON.parse(JSON.stringify(catalogue)));
    expect(found).toContain(problem);
    expect(others).toEqual([]);
  });

  test('needs every plural form of its language', () => {
    expect(checkCatalogue('pl', messages, complete).join()).toContain('lacks the plural form “few”');
  });
});

test('a built script has the texts of one language, with values in their places (LANGUAGE-2)', () => {
  const english = { 'Share {0}': 'Share {0}', 'Don’t': 'Don’t', Later: 'Later' };
  const translations = translationsOf(english, {
    'Share {0}': 'Partager {0}',
    'Don’t': "N'y `pensez` pas \u0024{x}",
  });
  const script = `f("${markOf('Share {0}')}");g(\`<b>${markOf('Don’t')}</b>\`);h('${markOf('Later')}')`;
  expect(localise(script, translations)).toBe(
    "f([\"Partager \",0]);g(`<b>N\\'y \\`pensez\\` pas \\\u0024{x}</b>`);h('Later')",
  );
  expect(fill(['Partager ', 0], ['Quai'])).toBe('Partager Quai');
});

test('counts have the form of the language', () => {
  expect(plural(1, ['# file', '# files'])).toBe('1 file');
  expect(plural(2000, { one: '# file', other: '# files' })).toBe('2,000 files');
});

test.each([
  ['de-AT', 'de'],
  ['pt', 'pt-BR'],
  ['pt-PT', 'pt-BR'],
  ['zh', 'zh-Hans'],
  ['zh-CN', 'zh-Hans'],
  ['zh-TW', undefined],
  ['he-IL', 'he'],
  ['sv', undefined],
  ['x_y', undefined],
])('%s is read in %s (LANGUAGE-1)', (tag, language) => {
  expect(languageFor(tag)).toBe(language);
});

// LANGUAGE-6
test('a label is that of a new library until an operator changes it', async () => {
  expect(seededLabel('field', 'camera_make', 'Camera make')).toBe('Camera make');
  expect(seededLabel('field', 'camera_make', 'camera make')).toBe('camera make');
  expect(seededLabel('fieldDescription', 'aperture', 'As an f-number')).toBe('As an f-number');
  expect(seededLabel('preset', 'jpeg-2000', 'JPEG, 2,000 pixels')).toBe('JPEG, 2,000 pixels');
  expect(seededLabel('role', 'constructor', 'Name')).toBe('Name');
  expect(seededLabel('role', 'admin', 'Constructor')).toBe('Constructor');
  expect([seededKind(1, 'Image'), seededKind(1, 'Photograph'), seededKind(12, 'Image')]).toEqual([
    'Image',
    'Photograph',
    'Image',
  ]);
  const source = "const seeded = { credit: { 'credit line': 'Credit line' } };";
  const { code } = await extract(source, 'a.ts');
  expect(code).toContain(`{ 'credit line': "${markOf('Credit line')}" }`);
});

// LANGUAGE-5
test('a text is shown in the language of the page, if it is translated', () => {
  expect(inPageLanguage('Season', { en: 'Time of year', de: 'Jahreszeit' })).toBe('Time of year');
  expect(inPageLanguage('Season', { de: 'Jahreszeit' })).toBe('Season');
  expect(written({ de: ' Jahreszeit ', fr: ' ' })).toEqual({ de: 'Jahreszeit' });
  expect(isSame({ de: 'a', fr: '' }, { de: 'a ' })).toBe(true);
});
