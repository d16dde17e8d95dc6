import type { MediaFacts } from './media.ts';

/** Frames per second as an exact fraction, such as 24000/1001. */
export interface FrameRate {
  readonly num: number;
  readonly den: number;
}

/** The share by which a measured rate may differ from a common one. 24 and 24000/1001 differ by 0.001. */
const NEARLY = 0.0002;

/**
 * The part of a frame by which a position may lie before the start of its frame. Browsers and containers cut positions to
 * microseconds, which is less at any rate.
 */
const EARLY = 0.001;

/**
 * Returns the common rate that a measured one stands for: whole frames per second, or 1000/1001 of them as in NTSC;
 * undefined for other rates.
 */
export function commonFrameRate(perSecond: number): FrameRate | undefined {
  const isNear = ({ num, den }: FrameRate) => Math.abs(perSecond / (num / den) - 1) < NEARLY;
  const whole = { num: Math.round(perSecond), den: 1 };
  const ntsc = { num: Math.round((perSecond * 1001) / 1000) * 1000, den: 1001 };
  return [whole, ntsc].find(isNear);
}

/** Returns the rate of a film; undefined if its facts have none. Facts from before exact rates have a rounded one. */
export function frameRateOf({
  exact_frame_rate: exact,
  frame_rate: rounded,
}: Pick<MediaFacts, 'exact_frame_rate' | 'frame_rate'>): FrameRate | undefined {
  const [num = 0, den = 0] = exact?.split('/').map(Number) ?? [];
  if (num > 0 && den > 0) return { num, den };
  if (rounded === undefined || rounded <= 0) return undefined;
  return commonFrameRate(rounded) ?? { num: Math.round(rounded * 1000), den: 1000 };
}

/** Returns the number of the frame that is shown at a position in seconds. The first frame is 0. */
export function frameAt(seconds: number, { num, den }: FrameRate): number {
  return Math.max(0, Math.floor((seconds * num) / den + EARLY));
}

/** Returns when a frame starts, in seconds. */
export function frameStart(frame: number, { num, den }: FrameRate): number {
  return (frame * den) / num;
}

/**
 * Returns the middle of a frame, in seconds. Players seek to it, because the start of a frame cut to microseconds shows
 * the frame before.
 */
export function frameMiddle(frame: number, rate: FrameRate): number {
  return frameStart(frame + 0.5, rate);
}
