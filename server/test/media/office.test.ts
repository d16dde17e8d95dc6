import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { locateLibreOffice } from '../../src/media/office/libreoffice.ts';
import { sentence } from '../../src/platform/language/sentence.ts';
import { startUnruly } from '../support/encoder.ts';
import { png } from '../support/pictures.ts';
import { docx, odt, zip } from './packages.ts';
import { openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();
const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const thumbnail = await png(256, 180);

describe('a document where LibreOffice is not installed', () => {
  beforeEach(() => {
    vi.stubEnv('LIBREOFFICE_PROGRAM', 'off');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  // MEDIA-26
  test.each([
    [
      'ODT',
      'application/vnd.oasis.opendocument.text',
      odt('Tangerine &amp; lime', thumbnail),
      'Tangerine & lime',
    ],
    [
      'DOCX',
      docxType,
      docx(['Tangerine', 'and <lime>'], { more: { 'docProps/thumbnail.png': thumbnail } }),
      'Tangerine\nand <lime>',
    ],
    [
      'EPUB',
      'application/epub+zip',
      zip({
        mimetype: 'application/epub+zip',
        'OEBPS/text/chapter1.xhtml': '<html><body><h1>One</h1><p>Tangerine</p></body></html>',
        'OEBPS/images/cover.png': thumbnail,
      }),
      'One\nTangerine',
    ],
  ])('has the picture that it brings along, and its words: %s', async (_, mime, bytes, words) => {
    const rendering = await studio.render(bytes, mime);
    const { width, height } = pictureOf(rendering);
    expect([width, height, rendering.text]).toEqual([256, 180, words]);
  });

  // MEDIA-26
  test('has no preview without a thumbnail, and its text is still searchable', async () => {
    const { ladder, text } = await studio.render(docx(['Tangerine']), docxType);
    expect(ladder).toEqual({
      outcome: 'unsupported',
      reason: sentence('LibreOffice is not installed, and the document has no thumbnail'),
    });
    expect(text).toBe('Tangerine');
  });

  test.each([
    ['unpacks to more than its words can be', undefined, 'unsupported'],
    ['claims to be small and is not', 1000, 'broken'],
  ])('is bounded when a part of it %s', async (_, claim, outcome) => {
    const part = Buffer.alloc(40 * 1024 ** 2, 'a');
    const bytes = zip({ '[Content_Types].xml': '<Types/>', 'word/document.xml': part }, claim);
    const before = process.memoryUsage().arrayBuffers;
    expect(bytes.length).toBeLessThan(200_000);
    const rendering = await studio.render(bytes, docxType);
    expect([rendering.ladder.outcome, rendering.text ?? '']).toEqual([outcome, '']);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(80 * 1024 ** 2);
  });

  test('is damaged when it is truncated', async () => {
    const { ladder } = await studio.render(docx(['Tangerine']).slice(0, 500), docxType);
    expect(ladder).toMatchObject({ outcome: 'broken', reason: sentence('the document is damaged') });
  });
});

const program = locateLibreOffice(undefined);

/** A small document in the format of Word 97, written by LibreOffice. */
async function inOldFormat() {
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-office-'));
  try {
    const path = join(directory, 'source.txt');
    await writeFile(path, 'Tangerine and lime\n');
    const profile = `-env:UserInstallation=${pathToFileURL(join(directory, 'profile'))}`;
    const args = ['--headless', profile, '--convert-to', 'doc', '--outdir', directory, path];
    await promisify(execFile)(program ?? '', args);
    return await readFile(join(directory, 'source.doc'));
  } finally {
    await rm(directory, { recursive: true });
  }
}

describe.skipIf(program === null)('a document where LibreOffice is installed (skipped without it)', () => {
  test('has its pages also in the format of Word 97', async () => {
    const rendering = await studio.render(await inOldFormat(), 'application/msword');
    expect(pictureOf(rendering).height).toBe(2400);
    expect(rendering.text).toContain('Tangerine');
  });

  // MEDIA-17
  test('has its pages without fetching linked files', async () => {
    const asked: string[] = [];
    const { address, stop } = await startUnruly((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    const linked = `${address}/spy.png`;
    const rendering = await studio.render(docx(['Tangerine and lime'], { linked }), docxType);
    await stop();
    expect(pictureOf(rendering).height).toBe(2400);
    expect(rendering.extras.map(({ key }) => key)).toEqual(['page-1']);
    expect([rendering.facts.page_count, rendering.text]).toEqual([1, 'Tangerine and lime']);
    expect(asked).toEqual([]);
  });

  test('does not show another file of the server that it links to', async () => {
    const secret = `${(await studio.place(Buffer.alloc(0))).path}.png`;
    await writeFile(secret, await png(200, 200));
    const rendering = await studio.render(docx(['Tangerine'], { linked: `file://${secret}` }), docxType);
    const { channels } = await sharp(pictureOf(rendering).path).stats();
    // The picture would be red and blue; everything else is grey.
    const means = channels.slice(0, 3).map(({ mean }) => mean);
    expect(Math.max(...means) - Math.min(...means)).toBeLessThan(0.5);
  });
});
