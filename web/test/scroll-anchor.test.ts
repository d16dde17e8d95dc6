import { describe, expect, it } from 'vitest';
import { anchorsIn, shiftFor } from '#lib/posts/scroll-anchor.ts';
import { arrange } from '#lib/posts/sheet.ts';

const shape = { layout: 'grid' as const, width: 1000, more: false };
const named = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `post-${from + at}`);
const sheetOf = (ids: readonly string[], width = shape.width) =>
  arrange(
    ids.map(() => 1.5),
    { ...shape, width },
  );
const topOf = (ids: readonly string[], id: string, width = shape.width) => {
  const row = sheetOf(ids, width).rows.find(({ tiles }) => tiles.some(({ index }) => ids[index] === id));
  return row?.top ?? Number.NaN;
};

describe('the scroll anchor', () => {
  const before = named(10, 70);
  const above = 1234;
  const anchors = anchorsIn(sheetOf(before).rows, before, above, 800);

  it('is the topmost fully visible post, then partly visible ones', () => {
    const offsets = anchors.map(({ offset }) => offset);
    const whole = offsets.filter((offset) => offset >= 0);
    expect(offsets).toEqual([...whole.toSorted((a, b) => a - b), ...offsets.slice(whole.length)]);
    expect(whole.length).toBeGreaterThan(3);
    expect(offsets.at(-1)).toBeLessThan(0);
    expect(Math.max(...offsets)).toBeLessThanOrEqual(800);
    for (const { id, offset } of anchors) expect(topOf(before, id) - above).toBe(offset);
  });

  it('is not needed while the beginning is visible', () => {
    expect(anchorsIn(sheetOf(before).rows, before, 0, 800)).toEqual([]);
    expect(anchorsIn(sheetOf(before).rows, before, -120, 800)).toEqual([]);
  });

  it('moves by what was inserted above', () => {
    const after = [...named(3, 10), ...before];
    const shift = shiftFor(anchors, sheetOf(after).rows, after, above);
    expect(shift).toBeGreaterThan(0);
    const first = anchors[0];
    expect(topOf(after, first?.id ?? '') - (above + shift)).toBe(first?.offset);
  });

  it('falls back to the next post when the topmost is gone', () => {
    const [gone, ...rest] = anchors;
    const after = before.filter((id) => id !== gone?.id);
    const shift = shiftFor(anchors, sheetOf(after).rows, after, above);
    const next = rest[0];
    expect(topOf(after, next?.id ?? '') - (above + shift)).toBe(next?.offset);
    expect(shiftFor(anchors, sheetOf(named(900, 960)).rows, named(900, 960), above)).toBe(0);
  });

  it('does not move when posts are appended, and follows a narrower window', () => {
    const after = [...before, ...named(70, 90)];
    expect(shiftFor(anchors, sheetOf(after).rows, after, above)).toBe(0);
    const shift = shiftFor(anchors, sheetOf(before, 600).rows, before, above);
    const first = anchors[0];
    expect(topOf(before, first?.id ?? '', 600) - (above + shift)).toBe(first?.offset);
  });
});
