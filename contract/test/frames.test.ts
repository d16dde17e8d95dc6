import { describe, expect, it } from 'vitest';
import { commonFrameRate, frameAt, frameMiddle, frameRateOf, frameStart } from '../src/frames.ts';

const rates = [
  ['24000/1001', 23.976],
  ['24/1', 24],
  ['25/1', 25],
  ['30000/1001', 29.97],
  ['30/1', 30],
  ['50/1', 50],
  ['60000/1001', 59.94],
  ['60/1', 60],
] as const;

// MEDIA-64
describe.each(rates)('a film of %s frames a second', (exact, rounded) => {
  const [num = 0, den = 0] = exact.split('/').map(Number);
  const rate = { num, den };

  it('has the same exact rate whether its facts have a fraction or a rounded number', () => {
    expect(commonFrameRate(rounded)).toEqual(rate);
    expect(frameRateOf({ exact_frame_rate: exact })).toEqual(rate);
    expect(frameRateOf({ frame_rate: rounded })).toEqual(rate);
  });

  it('numbers every frame of three hours by its start and its middle, also cut to microseconds', () => {
    const cut = (seconds: number) => Math.floor(seconds * 1e6) / 1e6;
    for (let frame = 0; frame < 3 * 3600 * 60; frame += 997) {
      expect(frameAt(frameStart(frame, rate), rate)).toBe(frame);
      expect(frameAt(cut(frameStart(frame, rate)), rate)).toBe(frame);
      expect(frameAt(cut(frameMiddle(frame, rate)), rate)).toBe(frame);
    }
  });
});

it('keeps rates that are neither whole nor those of NTSC, and knows none without facts', () => {
  expect(commonFrameRate(12.5)).toBeUndefined();
  expect(frameRateOf({ frame_rate: 12.5 })).toEqual({ num: 12500, den: 1000 });
  expect(frameRateOf({})).toBeUndefined();
  expect(frameRateOf({ frame_rate: 0 })).toBeUndefined();
});

it('shows frame 47 at 1.9602917 s of a film with 23.976 frames a second', () => {
  expect(frameAt(1.9602917, { num: 24000, den: 1001 })).toBe(47);
  expect(frameAt(1.960291, { num: 24000, den: 1001 })).toBe(47);
});
