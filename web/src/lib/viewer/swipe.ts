/**
 * Returns handlers of touches that turn pages: a sideways swipe of one finger leads to the next or previous page.
 * `isFree` returns whether a swipe that begins on an element may turn pages.
 */
export function createSwipe(
  isFree: (target: EventTarget | null) => boolean,
  turn: (by: 1 | -1) => void,
): Readonly<Record<'begin' | 'end', (event: TouchEvent) => void>> {
  let start: { readonly x: number; readonly y: number } | undefined;
  return {
    begin({ touches, target }) {
      const [finger] = touches;
      start =
        touches.length === 1 && finger !== undefined && isFree(target)
          ? { x: finger.clientX, y: finger.clientY }
          : undefined;
    },
    end({ touches, changedTouches }) {
      const [finger] = changedTouches;
      if (start === undefined || finger === undefined || touches.length > 0) return;
      const [x, y] = [finger.clientX - start.x, finger.clientY - start.y];
      start = undefined;
      if (Math.abs(x) > 50 && Math.abs(x) > 2 * Math.abs(y)) turn(x < 0 ? 1 : -1);
    },
  };
}
