import type { AssetVersion } from '@vitrine/contract/versions';
import { expect, it } from 'vitest';
import { renditionMark } from '#lib/assets/renditions.ts';
import { haveSameShape, ratioOfBoth } from '#lib/comparison/compare.ts';
import { placeInBox } from '#lib/comparison/marks.ts';
import { factsOf, keptProblem, sameFileAs } from '#lib/versions/words.ts';

const versionOf = (number: number, file_hash: string): AssetVersion => ({
  number,
  current: number === 3,
  file_hash,
  file_extension: 'png',
  file_size_bytes: 4_200_000,
  pixel_width: 600,
  pixel_height: 400,
  note: '',
  created_at: '2026-05-03T12:00:00Z',
});

it('pictures of the version before and of the new one have different addresses', () => {
  expect(renditionMark({ file_hash: 'a', processing_status: 'pending' })).toBe('a-pending');
  expect(renditionMark({ file_hash: 'a', processing_status: 'ready' })).toBe('a');
  expect(renditionMark({ file_hash: null, processing_status: 'pending' })).toBe(null);
});

it('a restored version names the first one with its file', () => {
  const all = [versionOf(3, 'a'), versionOf(2, 'b'), versionOf(1, 'a')];
  expect(all.map((version) => sameFileAs(version, all))).toEqual([1, undefined, undefined]);
  expect(factsOf(versionOf(1, 'a'))).toBe('PNG · 600 × 400 · 4.2 MB');
});

it('pictures of different shapes share a box in which both fit, and marks stay on their picture', () => {
  const [wide, tall] = [
    { width: 300, height: 200 },
    { width: 200, height: 300 },
  ];
  expect(ratioOfBoth([wide, tall, undefined])).toBe(1.5);
  expect(haveSameShape(wide, tall)).toBe(false);
  expect(haveSameShape(wide, { width: 1500, height: 1000 })).toBe(true);
  expect(haveSameShape(wide, undefined)).toBe(false);
  expect(placeInBox(wide, 1.5)).toEqual({ x: 0, y: 0, w: 1, h: 1 });
  const inWide = placeInBox(tall, 1.5);
  expect(inWide.w).toBeCloseTo(4 / 9);
  expect(inWide.x).toBeCloseTo(5 / 18);
  expect(placeInBox(wide, 0.5)).toEqual({ x: 0, y: expect.closeTo(1 / 3), w: 1, h: expect.closeTo(1 / 3) });
});

it('from 0 to 1,000 earlier versions can be kept', () => {
  expect(['0', '10', ' 1000 '].map(keptProblem)).toEqual([undefined, undefined, undefined]);
  for (const typed of ['', '-1', '1001', '1.5', 'ten']) expect(keptProblem(typed)).toBeDefined();
});
