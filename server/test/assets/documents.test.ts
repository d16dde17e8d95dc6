import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { pdf } from '../media/documents.ts';
import { docx } from '../media/packages.ts';
import { openLibrary, upload } from '../support/library.ts';
import { plainText } from '../support/pictures.ts';

const { resolve } = createRequire(import.meta.url);

const library = await openLibrary({ VITRINE_LIBREOFFICE: 'off' });
const owner = await library.join('owner');

// FILE-2
test('documents have the headers that viewers need, and cannot run scripts', async () => {
  const font = await readFile(resolve('@fontsource/inter/files/inter-greek-400-normal.woff2'));
  const book = await upload(owner, pdf(['One', 'Two']), {}, 'book.pdf');
  const text = plainText('# Title\n\n**bold** <script>alert(1)</script>\n');
  const note = await upload(owner, text, {}, 'note.md');
  const type = await upload(owner, Uint8Array.from(font), {}, 'type.woff2');
  const letter = await upload(owner, docx(['Dear Ivo']), {}, 'letter.docx');
  await library.runJobs();

  const pages = await owner.ok('getAssetMedia', { params: { id: book.id } });
  expect(pages).toMatchObject({ mime: 'application/pdf', kind: 'document', facts: { page_count: 2 } });
  expect(pages.variants.map(({ key }) => key)).toEqual(expect.arrayContaining(['page-1', 'page-2', 'col']));

  const html = await owner.send(`/assets/${note.id}/variants/text.html`);
  expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(html.headers.get('content-security-policy')).toMatch(/default-src 'none'.*sandbox/);
  expect(html.headers.get('x-content-type-options')).toBe('nosniff');

  const original = await owner.send(`/assets/${type.id}/file`);
  expect(original.headers.get('content-type')).toBe('font/woff2');
  expect(await owner.ok('getAsset', { params: { id: type.id } })).toMatchObject({ ladder_available: true });

  expect(await owner.ok('getAsset', { params: { id: letter.id } })).toMatchObject({
    processing_status: 'ready',
    ladder_available: false,
  });
});
