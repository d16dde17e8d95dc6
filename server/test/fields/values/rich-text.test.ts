import { afterAll, describe, expect, test } from 'vitest';
import { cleanHtml } from '../../../src/content/fields/values/rich-text.ts';
import { openBrowser } from '../../support/browser.ts';
import { openLibrary, upload } from '../../support/library.ts';
import { plainFile } from '../../support/pictures.ts';
import { define } from './fields.ts';
import { hostileHtml } from './hostile-html.ts';

const library = await openLibrary();
const owner = await library.join('owner');
const asset = (await upload(owner, plainFile())).id;
const field = await define(library, 'rich_text');
const browser = await openBrowser();

afterAll(() => browser?.close());

const put = async (value_text: string) =>
  (await owner.ok('setAssetFieldValue', { params: { id: asset, field_id: field }, body: { value_text } }))
    .value_text ?? '';

describe('rich text is sanitised on write', () => {
  // VALUE-10
  test('supported formatting is kept unchanged', async () => {
    const kept = [
      '<p>A <b>bold</b>, <em>slanted</em> and <u>underlined</u> word</p>',
      '<h2>Title</h2><ul><li>one</li><li>two</li></ul><ol start="3"><li>three</li></ol>',
      '<blockquote><p>said</p></blockquote><pre><code>a &lt; b &amp;&amp; c</code></pre><hr /><p>x<br />y</p>',
      '<p><a href="https://example.org/?a=1&amp;b=2" rel="noopener noreferrer nofollow">link</a></p>',
      '<p><a href="mailto:a@example.org" rel="noopener noreferrer nofollow">mail</a></p>',
      '<p>日本 🏔️</p>',
    ];
    for (const html of kept) expect(await put(html)).toBe(html);
  });

  test('escapes text, and removes pictures, styles, classes and ids', async () => {
    expect(await put('a < b & c > d')).toBe('a &lt; b &amp; c &gt; d');
    const styled = '<p class="x" id="y" style="color:red" data-z="1">a<img src="/api/v1/assets/1/file">b</p>';
    expect(await put(styled)).toBe('<p>ab</p>');
  });

  test('sanitising is idempotent', () => {
    for (const html of hostileHtml) {
      const clean = cleanHtml(html);
      expect(cleanHtml(clean)).toBe(clean);
    }
  });
});

// VALUE-10
test('rich text has only allowed elements, attributes and schemes when Chromium parses it, and runs no script', async () => {
  const page = await browser.newPage();
  const asked: string[] = [];
  await page.route('**/*', (route) => {
    asked.push(route.request().url());
    return route.fulfill({ status: 200, contentType: 'text/html', body: '' });
  });
  const faults: string[] = [];
  await page.exposeFunction('ran', () => faults.push('a script ran'));
  await page.goto('http://library.test/');
  asked.length = 0;
  const stored: string[] = [];
  for (const html of hostileHtml) {
    const body = { value_text: html };
    const { status, text } = await owner.send(`/assets/${asset}/fields/${field}`, { method: 'PUT', body });
    if (status === 200) stored.push(JSON.parse(text).value_text);
    // Refuses values without text after cleaning.
    else expect([html, status]).toEqual([html, 400]);
  }
  expect(stored.length).toBeGreaterThan(40);
  const found = await page.evaluate((texts) => {
    const names = 'P BR HR H1 H2 H3 H4 H5 H6 BLOCKQUOTE PRE CODE STRONG B EM I U S SUB SUP MARK UL OL LI A';
    const tags = new Set(names.split(' '));
    const place = document.createElement('div');
    document.body.replaceChildren(place);
    return texts.map((text) => {
      const wrong: string[] = [];
      place.innerHTML = text;
      for (const element of place.querySelectorAll('*')) {
        if (!tags.has(element.tagName)) wrong.push(element.tagName);
        for (const { name, value } of element.attributes) {
          const isLink = element.tagName === 'A' && (name === 'href' || name === 'rel');
          const isStart = element.tagName === 'OL' && name === 'start' && /^\d+$/.test(value);
          if (!isLink && !isStart) wrong.push(`${element.tagName} ${name}=${value}`);
        }
        if (element instanceof HTMLAnchorElement && element.hasAttribute('href')) {
          if (!['http:', 'https:', 'mailto:'].includes(element.protocol)) wrong.push(element.href);
        }
        for (const event of ['click', 'mouseover', 'pointerenter', 'focus', 'toggle', 'load', 'error'])
          element.dispatchEvent(new Event(event));
      }
      const comments = document.createTreeWalker(place, NodeFilter.SHOW_COMMENT);
      if (comments.nextNode() !== null) wrong.push('a comment');
      return [text, wrong];
    });
  }, stored);
  expect(found).toEqual(stored.map((html) => [html, []]));
  // Also as a whole document, where the parser starts in another state.
  await page.setContent(stored.join('\n'));
  expect(faults).toEqual([]);
  expect(asked).toEqual([]);
  await page.close();
});
