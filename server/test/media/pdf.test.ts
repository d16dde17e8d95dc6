import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { lockedPdf, pdf, pdfOf, pdfOfClaimedPages, pdfWithoutFont } from './documents.ts';
import { colourAt, expectColour, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();
const render = (bytes: Uint8Array) => studio.render(bytes, 'application/pdf');

describe('a PDF', () => {
  // MEDIA-18
  test('has its first page as the ladder, its pages as renditions, and the text of all pages', async () => {
    const { ladder, extras, facts, text } = await render(pdf(['First page', 'Marmalade']));
    expect(ladder).toMatchObject({ outcome: 'rendered', width: 1694, height: 2400 });
    expect(extras.map(({ key, contentType, width, height }) => [key, contentType, width, height])).toEqual([
      ['page-1', 'image/webp', 1129, 1600],
      ['page-2', 'image/webp', 1129, 1600],
    ]);
    expect(facts).toEqual({ page_count: 2 });
    expect(text).toMatch(/First page\s+Marmalade/);
    expectColour(await colourAt(extras[1]?.path, 0.02, 0.02), [255, 0, 0], 25);
  });

  // MEDIA-18
  test('of many pages has renditions of the first fifty and the text of all', async () => {
    const lines = Array.from({ length: 60 }, (_, at) => `word${at + 1}`);
    const { extras, facts, text } = await render(pdf(lines, [80, 2]));
    expect([extras.length, facts.page_count, extras.at(-1)?.key]).toEqual([50, 60, 'page-50']);
    expect(text).toContain('word60');
  });

  test.each([
    ['wider than any page may be', [4_000_000, 300_000]],
    ['smaller than a point', [0.01, 0.001]],
  ] as const)('is bounded in pixels when a page is %s', async (_, box) => {
    const { width, height } = pictureOf(await render(pdf(['x'], box)));
    expect(Math.max(width, height)).toBe(2400);
  });

  test('that claims a million pages is bounded in renditions', async () => {
    const { ladder, extras } = await render(pdfOfClaimedPages());
    expect(ladder.outcome).toBe('rendered');
    expect(extras.length).toBeLessThanOrEqual(50);
  });

  const pageless = ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [] /Count 0 >>'];
  test.each([
    ['a password is needed', lockedPdf(), 'unsupported', 'the PDF is protected by a password'],
    ['only its beginning is left', Buffer.from('%PDF-1.7\n'), 'broken', 'the PDF is damaged'],
    ['it has no pages', pdfOf(pageless), 'broken', 'the PDF has no pages'],
  ])('says why nothing is drawn when %s', async (_, bytes, outcome, reason) => {
    expect((await render(bytes)).ladder).toMatchObject({ outcome, reason: { text: reason } });
  });

  // MEDIA-52
  test.each([
    ['東京夜景', { font: 'HeiseiKakuGo-W5', encoding: 'UniJIS-UCS2-H', ordering: 'Japan1' }],
    ['简体字体', { font: 'STSong-Light', encoding: 'UniGB-UCS2-H', ordering: 'GB1' }],
    ['繁體字體', { font: 'MSung-Light', encoding: 'UniCNS-UCS2-H', ordering: 'CNS1' }],
    ['한국어체', { font: 'HYGoThic-Medium', encoding: 'UniKS-UCS2-H', ordering: 'Korea1' }],
  ])('that does not contain its East Asian font is drawn with one: %s', async (text, font) => {
    const made = await render(pdfWithoutFont(text, font));
    expect(made.text).toBe(text);
    const page = made.extras.find(({ key }) => key === 'page-1')?.path;
    const { data, info } = await sharp(page).greyscale().raw().toBuffer({ resolveWithObject: true });
    // Each of the four characters, which are 40 of 200 points wide, has ink in regular strength, and the margins none.
    const inked = Array.from({ length: 5 }, () => 0);
    for (const [at, level] of data.entries()) {
      const column = Math.floor(((at % info.width) / info.width + 0.1) * 5);
      if (level < 128) inked[column] = (inked[column] ?? 0) + 1;
    }
    const [margin, ...characters] = inked.map((count) => count / (info.width / 5) ** 2);
    expect(margin).toBeLessThan(0.01);
    for (const share of characters) expect(share).toBeGreaterThan(0.1);
  });
});
