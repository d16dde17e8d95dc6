import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { clustersOf } from '../../src/media/typesetting/clusters.ts';
import { bidiOf, lineOfClusters, measure, pathOf } from '../../src/media/typesetting/set-text.ts';
import { openStudio, pictureOf } from './still-kit.ts';

/** Returns the characters of a line from left to right. */
const shown = (text: string, base?: 'ltr' | 'rtl') =>
  lineOfClusters('regular', text, bidiOf(text, base)).map((cluster) => cluster.text);

describe('a line', () => {
  test.each<[what: string, text: string, base: 'ltr' | 'rtl', fromLeft: string]>([
    ['Hebrew', 'שלום', 'rtl', 'םולש'],
    ['a Latin name in Hebrew', 'של Mara היום', 'rtl', 'םויה Mara לש'],
    ['Hebrew in a Latin text', 'by דנה, today', 'ltr', 'by הנד, today'],
    ['numbers in Hebrew', 'עמוד 12 מתוך 30', 'rtl', '30 ךותמ 12 דומע'],
    ['brackets, which are mirrored', 'א (ב) ג', 'rtl', 'ג (ב) א'],
    ['an isolated time after Arabic', '1  \u2068ب\u2069 · \u206800:02\u2069', 'ltr', '1  ب · 00:02'],
    ['the same on a mirrored page', '1  \u2068Mara\u2069 · \u206800:02\u2069', 'rtl', '00:02 · Mara  1'],
    ['Latin only, on a mirrored page', 'IMG_2 (copy).jpg', 'ltr', 'IMG_2 (copy).jpg'],
  ])('shows %s in order', (_, text, base, fromLeft) => {
    expect(shown(text, base).join('')).toBe(fromLeft);
  });

  test('has the direction of its first letter', () => {
    expect(shown('12 אב c').join('')).toBe('c בא 12');
    expect(shown('12 c אב').join('')).toBe('12 c בא');
  });
});

describe('letters', () => {
  const formsOf = (text: string) =>
    clustersOf('regular', text, 'rtl').map(({ glyphs }) => glyphs.map(({ glyph }) => glyph.id).join(' '));

  test('of Arabic join', () => {
    const [last, middle, first] = formsOf('ببب');
    expect(new Set([last, middle, first, ...formsOf('ب')])).toHaveProperty('size', 4);
    expect(measure('regular', 'ببب', 10)).toBeLessThan(3 * measure('regular', 'ب', 10));
  });

  test('of Arabic have forms for their neighbours and keep their marks, which take no space', () => {
    expect(formsOf('لا')[0]).not.toBe(formsOf('با')[0]);
    expect(
      clustersOf('regular', 'مُحَمَّد', 'rtl')
        .filter(({ width }) => width > 0)
        .map(({ text }) => text),
    ).toEqual(['د', 'م', 'ح', 'م']);
    expect(measure('regular', 'مُحَمَّد', 10)).toBeCloseTo(measure('regular', 'محمد', 10));
  });

  test('are told by the text that they stand for, also those of the same form', () => {
    const texts = ['كيف', 'کیف', 'بتثپ', 'تبثن', 'ى', 'ی', 'ٱللّه', 'می‌خواهم', 'گچپژ', '٠١٢٣', 'مُحَمَّد', 'שָׁלוֹם'];
    for (const text of [...texts, ...texts]) {
      const read = clustersOf('regular', text, 'rtl').map((cluster) => cluster.text);
      expect(read.reverse().join('')).toBe(text);
    }
  });

  test('have their form beside marks and letters for which the font has no place', () => {
    // Marks of the Quran, and letters of African languages.
    for (const text of ['بۖب', 'ڢڣڥ', 'بۛ']) {
      const clusters = clustersOf('regular', text, 'rtl');
      expect(
        clusters
          .map((cluster) => cluster.text)
          .reverse()
          .join(''),
      ).toBe(text);
      expect(pathOf('regular', text, 20, 0, 20)).toContain('Q');
    }
    expect(formsOf('بۖب').at(-1)).toBe(formsOf('بب').at(-1));
  });

  test('keep their text when a letter of which they are a part is drawn before', () => {
    for (const [letter, part] of [
      ['ٵ', 'ا'],
      ['ٸ', 'ى'],
    ] as const) {
      pathOf('bold', letter, 20, 0, 20);
      expect(clustersOf('bold', part, 'rtl').map(({ text }) => text)).toEqual([part]);
    }
  });

  test('have outlines in every face', () => {
    for (const face of ['regular', 'bold', 'mono'] as const)
      for (const text of ['العربية', 'עברית']) {
        for (const { glyphs } of clustersOf(face, text, 'rtl')) {
          expect(glyphs).not.toHaveLength(0);
          // The first glyph of a font takes the place of those that it lacks.
          for (const { glyph } of glyphs) expect(glyph.id, text).toBeGreaterThan(0);
        }
        expect(pathOf(face, text, 20, 0, 20)).toContain('Q');
      }
  });
});

const studio = openStudio();

/** Returns how much of a picture of a text is dark in its left and its right half. */
async function inkOf(text: string): Promise<[left: number, right: number]> {
  const { path, width, height } = pictureOf(
    await studio.render(new TextEncoder().encode(text), 'text/plain'),
  );
  const inkFrom = async (left: number) => {
    const half = { left, top: 0, width: Math.floor(width / 2), height };
    const data = await sharp(path).extract(half).greyscale().raw().toBuffer();
    return data.filter((level) => level < 128).length;
  };
  return [await inkFrom(0), await inkFrom(Math.ceil(width / 2))];
}

// MEDIA-52
describe('the picture of a text', () => {
  test.each([
    ['a note', 'ملاحظة قصيرة\n'],
    ['a heading in Markdown', '# עברית\n\n**מודגש** כאן\n'],
    ['a list', '- אחת\n- שתיים\n\n**סוף**\n'],
  ])('from right to left begins at the right: %s', async (_, text) => {
    const [left, right] = await inkOf(text);
    expect(right).toBeGreaterThan(0);
    expect(left).toBe(0);
  });

  test('from left to right begins at the left', async () => {
    const [left, right] = await inkOf('A short note\n');
    expect(left).toBeGreaterThan(0);
    expect(right).toBe(0);
  });
});
