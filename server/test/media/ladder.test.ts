import { describe, expect, test } from 'vitest';
import { defaultLadder, keysOf, shapeOfRung, stepsOf } from '../../src/media/ladder.ts';

const [col, preview] = defaultLadder;
if (col === undefined || preview === undefined) throw new Error('the ladder is empty');

// MEDIA-2
describe('the preview ladder', () => {
  test('of an install that configured none is col, preview, screen and hires', () => {
    expect(defaultLadder.map(({ key, fit, maxDim }) => [key, fit, maxDim])).toEqual([
      ['col', 'cover', 320],
      ['preview', 'contain', 1024],
      ['screen', 'contain', 2048],
      ['hires', 'contain', 4096],
    ]);
  });

  test.each([
    [1, 1],
    [1, 5000],
    [5000, 1],
    [319, 321],
    [4096, 4096],
    [6000, 4000],
    [250_000, 90],
  ])('a rung is never larger than the original (%i x %i), and never empty', (width, height) => {
    for (const rung of defaultLadder) {
      const made = shapeOfRung(rung, { width, height });
      expect(made.width).toBeLessThanOrEqual(Math.min(width, rung.maxDim));
      expect(made.height).toBeLessThanOrEqual(Math.min(height, rung.maxDim));
      expect(Math.min(made.width, made.height)).toBeGreaterThanOrEqual(1);
    }
  });

  const huge = { key: 'huge', fit: 'contain', maxDim: 50_000, format: 'webp', quality: 80 } as const;
  test.each([
    ['contain keeps the shape of a wide picture', preview, [6000, 4000], [1024, 683]],
    ['contain keeps the shape of a high picture', preview, [4000, 6000], [683, 1024]],
    ['contain does not enlarge', preview, [800, 600], [800, 600]],
    ['cover is a square', col, [6000, 4000], [320, 320]],
    ['cover is no wider than the shorter edge', col, [6000, 40], [40, 40]],
    ['no configuration makes a rung longer than WebP allows', huge, [40_000, 400], [16_383, 164]],
  ] as const)('%s', (_, rung, [width, height], [dueWidth, dueHeight]) => {
    expect(shapeOfRung(rung, { width, height })).toEqual({ width: dueWidth, height: dueHeight });
  });
});

const each = [['hires'], ['screen'], ['preview'], ['col']];
const shared = [['preview', 'screen', 'hires'], ['col']];
test.each([
  ['are one a rung for a large picture, the largest first', [6000, 4000], each],
  ['are one a rung for a picture smaller than the largest', [3000, 2000], each],
  ['are shared by rungs with identical pixels', [900, 600], shared],
  ['of a small square are a single one, for its crop is all of it', [200, 200], [keysOf(defaultLadder)]],
  ['of a picture of 320 x 200 keep the crop separate', [320, 200], shared],
] as const)('the files of a ladder %s', (_, [width, height], keys) => {
  expect(stepsOf(defaultLadder, { width, height }).map((step) => step.keys)).toEqual(keys);
});
