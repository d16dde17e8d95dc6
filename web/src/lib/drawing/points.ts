/** Points nearer than this to the previous one say nothing, as a fraction of the width. */
const nearest = 0.0012;

/** The most points of one stroke; a longer one ends there. */
const most = 5000;

/** Adds points to those of a stroke, without points that are almost the same as the one before. */
export function extended(points: readonly number[][], added: readonly number[][], ratio: number): number[][] {
  const all = [...points];
  for (const point of added) {
    const [x = 0, y = 0] = point;
    const [lastX = Number.NaN, lastY = Number.NaN] = all.at(-1) ?? [];
    if (Math.hypot(x - lastX, (y - lastY) / ratio) < nearest || all.length >= most) continue;
    all.push(point);
  }
  return all;
}

/** Returns where a pointer is, as fractions of an element, with the pressure of a pen. */
export function pointIn(
  box: Pick<DOMRect, 'left' | 'top' | 'width' | 'height'>,
  event: Pick<PointerEvent, 'clientX' | 'clientY' | 'pointerType' | 'pressure'>,
): number[] {
  const place = [
    within((event.clientX - box.left) / box.width),
    within((event.clientY - box.top) / box.height),
  ];
  return event.pointerType === 'pen' ? [...place, rounded(event.pressure)] : place;
}

/** Returns a fraction between 0 and 1 with the decimals that the service keeps. */
export function within(fraction: number): number {
  return rounded(Math.min(1, Math.max(0, fraction)));
}

function rounded(value: number): number {
  return Math.round(value * 1e5) / 1e5;
}
