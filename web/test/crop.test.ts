import { describe, expect, it } from 'vitest';
import { cropOf, movedFocal } from '#lib/posts/edit/crop.ts';
import { nearestSpot } from '#lib/ui/sorting.ts';

describe('the square crop of a cover', () => {
  it('is the largest square, centred without a focal point', () => {
    expect(cropOf(2, null)).toEqual({ left: 0.25, top: 0, width: 0.5, height: 1 });
    expect(cropOf(0.5, null)).toEqual({ left: 0, top: 0.25, width: 1, height: 0.5 });
  });

  it('stays inside the picture for a focal point near its edge', () => {
    expect(cropOf(2, { x: 0, y: 0.1 })).toMatchObject({ left: 0, top: 0 });
    expect(cropOf(2, { x: 1, y: 0.9 })).toMatchObject({ left: 0.5, top: 0 });
  });

  it('moves only along the longer side, up to the edge', () => {
    expect(movedFocal(2, null, 0.1, 0.4)).toEqual({ x: 0.6, y: 0.5 });
    expect(movedFocal(2, null, 9, 0)).toEqual({ x: 0.75, y: 0.5 });
    expect(movedFocal(0.5, { x: 0.5, y: 0.3 }, 0, -9)).toEqual({ x: 0.5, y: 0.25 });
    expect(movedFocal(1, null, 0.2, 0.2)).toEqual({ x: 0.5, y: 0.5 });
  });
});

it('a dragged file is over the nearest place', () => {
  const spots = [
    { x: 50, y: 50 },
    { x: 150, y: 50 },
    { x: 50, y: 150 },
  ];
  expect(nearestSpot(spots, { x: 140, y: 90 })).toBe(1);
  expect(nearestSpot(spots, { x: 20, y: 400 })).toBe(2);
  expect(nearestSpot([], { x: 0, y: 0 })).toBe(-1);
});
