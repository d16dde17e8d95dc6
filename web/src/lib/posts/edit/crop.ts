/** Centre of the square crop as fractions of the picture's width and height (POST-25). */
export interface Focal {
  readonly x: number;
  readonly y: number;
}

/** The square crop of a picture, as fractions of its width and height. */
export interface Crop {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

function within(value: number, most: number): number {
  return Math.min(most, Math.max(0, value));
}

function rounded(fraction: number): number {
  return Math.round(fraction * 10_000) / 10_000;
}

/** Returns the largest square inside a picture of this aspect ratio whose centre is closest to the focal point. */
export function cropOf(ratio: number, focal: Focal | null): Crop {
  const width = Math.min(1, 1 / ratio);
  const height = Math.min(1, ratio);
  const { x, y } = focal ?? { x: 0.5, y: 0.5 };
  return { left: within(x - width / 2, 1 - width), top: within(y - height / 2, 1 - height), width, height };
}

/** Returns the focal point after moving the square by fractions of the picture, limited to the picture. */
export function movedFocal(ratio: number, focal: Focal | null, byX: number, byY: number): Focal {
  const { left, top, width, height } = cropOf(ratio, focal);
  return {
    x: rounded(within(left + byX, 1 - width) + width / 2),
    y: rounded(within(top + byY, 1 - height) + height / 2),
  };
}

/** Returns the direction in which the square can move: along the longer side, or none for a square picture. */
export function movableAxis(ratio: number): 'horizontal' | 'vertical' | 'none' {
  if (Math.abs(ratio - 1) < 0.005) return 'none';
  return ratio > 1 ? 'horizontal' : 'vertical';
}

/** Returns the position of the square along its direction, from 0 to 100. */
export function travelOf(ratio: number, focal: Focal | null): number {
  const { left, top, width, height } = cropOf(ratio, focal);
  const room = ratio > 1 ? 1 - width : 1 - height;
  return room <= 0 ? 0 : Math.round(((ratio > 1 ? left : top) / room) * 100);
}
