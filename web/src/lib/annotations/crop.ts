import type { Box } from './anchor.ts';

/** The part of a picture that shows a place, as CSS properties of a background. */
export interface Crop {
  /** The size of the whole picture relative to the part, in percent of its width and height. */
  readonly size: string;
  readonly position: string;
  /** Where the place is in the part, in fractions. */
  readonly place: Box;
}

/** The share of the picture that surrounds a place. */
const margin = 0.12;

/**
 * Returns the part of a picture around a place, with the aspect ratio of the part. `ratio` is the width of the picture
 * divided by its height, `partRatio` that of the part.
 */
export function cropAround(box: Box, ratio: number, partRatio: number): Crop {
  // Heights are measured in widths of the picture, so that both have the same unit.
  const high = 1 / ratio;
  const wanted = { w: box.w + 2 * margin, h: box.h * high + 2 * margin };
  const w = Math.min(Math.max(wanted.w, wanted.h * partRatio), Math.max(1, high * partRatio));
  const h = w / partRatio;
  const start = (middle: number, size: number, whole: number) =>
    size >= whole ? (whole - size) / 2 : Math.min(whole - size, Math.max(0, middle - size / 2));
  const x = start(box.x + box.w / 2, w, 1);
  const y = start((box.y + box.h / 2) * high, h, high);
  const position = (from: number, size: number, whole: number) =>
    Math.abs(whole - size) < 1e-9 ? 50 : (from / (whole - size)) * 100;
  return {
    size: `${100 / w}% ${(100 * high) / h}%`,
    position: `${position(x, w, 1)}% ${position(y, h, high)}%`,
    place: { x: (box.x - x) / w, y: (box.y * high - y) / h, w: box.w / w, h: (box.h * high) / h },
  };
}
