import { describe, expect, test } from 'vitest';
import { defaultLadder, keysOf, shapeOfRung, stepsOf } from '../../src/media/ladder.ts';

const shapes = [
  [1, 1],
  [1, 5000],
  [5000, 1],
  [319, 321],
  [320, 320],
  [1024, 768],
  [4096, 4096],
  [6000, 4000],
  [4000, 6000],
  [16_383, 16_383],
  [250_000, 90],
] as const;

describe('the preview ladder', () => {
  // MEDIA-2
  test('of an install that configured none is col, preview, screen and hires', () => {
    expect(defaultLadder.map(({ key, fit, maxDim }) => [key, fit, maxDim])).toEqual([
      ['col', 'cover', 320],
      ['preview', 'contain', 1024],
      ['screen', 'contain', 2048],
      ['hires', 'contain', 4096],
    ]);
  });

  // MEDIA-2
  test.each(shapes)(
    'a rung is never larger than the original (%i x %i), and never empty',
    (width, height) => {
      for (const rung of defaultLadder) {
        const made = shapeOfRung(rung, { width, height });
        expect(made.width).toBeLessThanOrEqual(Math.min(width, rung.maxDim));
        expect(made.height).toBeLessThanOrEqual(Math.min(height, rung.maxDim));
        expect(Math.min(made.width, made.height)).toBeGreaterThanOrEqual(1);
      }
    },
  );

  test('contain keeps the shape', () => {
    const [, preview] = defaultLadder;
    if (preview === undefined) throw new Error('no preview');
    expect(shapeOfRung(preview, { width: 6000, height: 4000 })).toEqual({ width: 1024, height: 683 });
    expect(shapeOfRung(preview, { width: 4000, height: 6000 })).toEqual({ width: 683, height: 1024 });
    expect(shapeOfRung(preview, { width: 800, height: 600 })).toEqual({ width: 800, height: 600 });
  });

  // MEDIA-2
  test('cover is a square no wider than the shorter edge', () => {
    const [col] = defaultLadder;
    if (col === undefined) throw new Error('no col');
    expect(shapeOfRung(col, { width: 6000, height: 4000 })).toEqual({ width: 320, height: 320 });
    expect(shapeOfRung(col, { width: 6000, height: 40 })).toEqual({ width: 40, height: 40 });
  });

  test('no configuration makes a rung longer than WebP allows', () => {
    const huge = { key: 'huge', fit: 'contain', maxDim: 50_000, format: 'webp', quality: 80 } as const;
    expect(shapeOfRung(huge, { width: 40_000, height: 400 })).toEqual({ width: 16_383, height: 164 });
  });
});

describe('the files of a ladder', () => {
  const keys = (width: number, height: number) =>
    stepsOf(defaultLadder, { width, height }).map((s) => s.keys);

  test('are one a rung for a large picture, the largest first', () => {
    expect(keys(6000, 4000)).toEqual([['hires'], ['screen'], ['preview'], ['col']]);
  });

  test('are shared by rungs with identical pixels', () => {
    expect(keys(900, 600)).toEqual([['preview', 'screen', 'hires'], ['col']]);
    expect(keys(3000, 2000)).toEqual([['hires'], ['screen'], ['preview'], ['col']]);
  });

  test('of a small square are a single one, for its crop is all of it', () => {
    expect(keys(200, 200)).toEqual([keysOf(defaultLadder)]);
  });

  test('of a picture of 320 x 200 keep the crop separate', () => {
    expect(keys(320, 200)).toEqual([['preview', 'screen', 'hires'], ['col']]);
  });
});
