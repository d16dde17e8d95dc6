import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { describe, expect, test, vi } from 'vitest';
import { flavourOf } from '../../src/media/texts/flavour.ts';
import { sentence } from '../../src/platform/language/sentence.ts';
import { extraOf, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();
// Options of its own, so that its decoder starts with the environment of its test.
const withoutFonts = openStudio({ idleMs: 100 });
const bytesOf = (text: string) => new TextEncoder().encode(text);

async function made(text: string) {
  const rendering = await studio.render(bytesOf(text), 'text/plain');
  return { rendering, html: String(await extraOf(rendering, 'text.html')) };
}

test.each([
  ['Just a note to myself.\nBuy milk, bread and eggs.\nCall Ivo, then Mara.\n', { kind: 'plain' }],
  ['# Title\n\nSome **bold** words and [a link](https://example.org).\n', { kind: 'markdown' }],
  ['Title\n=====\n\n* one\n* two\n', { kind: 'markdown' }],
  ['name,city\nMara,Praha\nIvo,Brno\n', { kind: 'table', delimiter: ',' }],
  ['name\tcity\nMara\tPraha\n', { kind: 'table', delimiter: '\t' }],
  ['{"a": [1, 2', { kind: 'code', language: 'json' }],
  ['#!/usr/bin/env python3\nprint(1)\n', { kind: 'code', language: 'python' }],
  [
    'import os\n\n# sum\ndef total(a, b):\n    return a + b\n\nfor x in range(3):\n    print(total(x, 1))\n',
    { kind: 'code', language: 'python' },
  ],
  [
    'import { a } from "b";\n\nexport function c(): void {\n  const d = a();\n  return d;\n}\n',
    { kind: 'code', language: 'typescript' },
  ],
  [
    '-- people\ncreate table people (\n  id int\n);\nselect * from people;\n',
    { kind: 'code', language: 'sql' },
  ],
  ['<!doctype html>\n<p>Hello</p>\n', { kind: 'code', language: 'xml' }],
])('the kind of a text is told by its content: %j', (text, flavour) => {
  expect(flavourOf(text, 'text/plain')).toEqual(flavour);
});

describe('a text', () => {
  test('has a picture of its first page, a fragment for the viewer and its words for search', async () => {
    const { rendering, html } = await made('Meet me at <noon> & bring "cake".\n');
    const { path, width, height } = pictureOf(rendering);
    expect([width, height]).toEqual([800, 600]);
    const { channels } = await sharp(path).stats();
    expect(channels[0]?.min).toBeLessThan(100);
    expect(html).toBe(
      '<div class="text-plain"><pre>Meet me at &lt;noon&gt; &amp; bring &quot;cake&quot;.\n</pre></div>\n',
    );
    expect(rendering.text).toContain('bring "cake"');
  });

  // MEDIA-19
  test('is drawn on a narrow sheet if it is short', async () => {
    const { rendering: long } = await made('Bring the cake. '.repeat(20));
    const { width, height } = pictureOf(long);
    expect([width, height]).toEqual([1200, 900]);
    const { rendering: high } = await made('cake\n'.repeat(50));
    const narrow = pictureOf(high);
    expect(narrow.width).toBe(800);
    expect(narrow.height).toBeGreaterThan(1400);
  });

  // MEDIA-1
  test.each(['utf16le', 'utf16be'] as const)('in %s is decoded by its byte order mark', async (encoding) => {
    const bytes = Buffer.from('\ufeffGrüße from 東京\r\n', 'utf16le');
    const { text } = await studio.render(encoding === 'utf16le' ? bytes : bytes.swap16(), 'text/plain');
    expect(text).toBe('Grüße from 東京\n');
  });

  test('of source code is highlighted, and comma-separated values are a table', async () => {
    const { html: code } = await made('import { a } from "b";\nexport const c = a(1); // <script>\n');
    expect(code).toContain('<div class="text-code" data-language="typescript">');
    expect(code).toContain('<span class="hljs-keyword">import</span>');
    expect(code).toContain('&lt;script&gt;');
    const { html: table } = await made('name,note\nMara,"first, of <b>many</b>"\n');
    expect(table).toContain('<th>name</th><th>note</th>');
    expect(table).toContain('<td>first, of &lt;b&gt;many&lt;/b&gt;</td>');
  });

  // MEDIA-19
  test('in Markdown is rendered without anything that runs, loads or frames', async () => {
    const { rendering, html } = await made(
      [
        '# Title',
        '**bold** [good](https://example.org) [bad](javascript:alert(1)) ![picture](https://example.org/spy.png)',
        '<script>alert(1)</script><img src=x onerror=alert(1)><iframe src="//evil"></iframe><style>*{}</style>',
        '<a href="https://example.org" onclick="x()" style="position:fixed">link</a><svg onload=x></svg><form action=/></form>',
        '```js\nconst a = 1;\n```',
      ].join('\n\n'),
    );
    expect(pictureOf(rendering).width).toBe(1200);
    expect(html).toContain('<h1>Title</h1>');
    expect(html).toContain(
      '<a href="https://example.org" rel="noopener noreferrer nofollow" target="_blank">good</a>',
    );
    expect(html).toContain('<code class="hljs"><span class="hljs-keyword">const</span>');
    expect(html).not.toMatch(/<(?:script|img|iframe|style|svg|form)|javascript:|\son\w+=|style=/i);
  });

  // MEDIA-19
  test('in East Asian scripts is drawn with its characters', async () => {
    const inkOf = async (text: string) => {
      const { path } = pictureOf((await made(text)).rendering);
      const data = await sharp(path).greyscale().raw().toBuffer();
      return data.filter((level) => level < 128).length;
    };
    const [sparse, dense] = [await inkOf('一一一一\n'), await inkOf('鬱鬱鬱鬱\n')];
    expect(sparse).toBeGreaterThan(0);
    expect(dense).toBeGreaterThan(2 * sparse);
  });

  test('that is large is cut off after 200 kB, which the fragment states', async () => {
    const { rendering, html } = await made('word '.repeat(100_000));
    expect(html.length).toBeLessThan(201_000);
    expect(html).toContain('Only the first 200 kB are shown.');
    expect(rendering.text?.length).toBe(200_000);
  });

  test.each([
    ['nested quotations', '>'.repeat(20_000)],
    [
      'nested lists',
      Array.from({ length: 2000 }, (_, depth) => `${' '.repeat(depth % 400)}- # [a](b)`).join('\n'),
    ],
    ['nested brackets', `# a\n\n${'['.repeat(50_000)}](b)`],
    ['one long line of code', `{"a":"${'x'.repeat(150_000)}"}`],
    ['scripts we have no letters of', '山川異域風月同天 สวัสดี नमस्ते 🎉\n'.repeat(300)],
    ['characters that take no room', '\u200b\u0301\u202e\t'.repeat(20_000).concat('end')],
  ])('is drawn in spite of %s', async (_, text) => {
    expect(await studio.outcomeOf(bytesOf(text), 'text/plain')).toBe('rendered');
  });

  test('without a character is not drawn, and that is no fault', async () => {
    const { ladder } = await studio.render(bytesOf(' \n\t\n'), 'text/plain');
    expect(ladder).toEqual({ outcome: 'unsupported', reason: sentence('the text is empty') });
  });

  // MEDIA-19
  test('looks the same on a machine without fonts', async () => {
    const bytes = bytesOf('# Title\n\n**bold**\n');
    const usual = pictureOf(await studio.decode(bytes, 'text/plain'));
    vi.stubEnv('FONTCONFIG_FILE', '/dev/null');
    const bare = pictureOf(await withoutFonts.decode(bytes, 'text/plain').finally(() => vi.unstubAllEnvs()));
    expect((await readFile(bare.path)).equals(await readFile(usual.path))).toBe(true);
  });
});
