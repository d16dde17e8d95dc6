/** Pixels that the pointer moves before a click becomes a rectangle. */
const threshold = 8;
/** The distance from the edge of the window in which the page scrolls, and its speed in pixels per frame. */
const edge = 56;
const fastest = 24;

interface Rectangle {
  /** Whether the pointer may start a rectangle here. */
  mayStart(event: PointerEvent): boolean;
  /** Called with the rectangle in coordinates of the window, for each frame. */
  onmove(area: DOMRect): void;
  oncancel(): void;
}

/** Returns how far to scroll for a pointer at this height of the window. */
function speedAt(y: number): number {
  const above = Math.min(1, Math.max(0, edge - y) / edge);
  const below = Math.min(1, Math.max(0, y - (innerHeight - edge)) / edge);
  return Math.round((below - above) * fastest);
}

/**
 * Draws a rectangle while the mouse is dragged in an element, and scrolls at the edges of the window. Returns a function
 * that stops listening. Its start is a place of the page, so that it stays there while the page scrolls.
 */
export function drawRectangle(within: HTMLElement, { mayStart, onmove, oncancel }: Rectangle): () => void {
  let box: HTMLElement | undefined;
  let start = { x: 0, y: 0 };
  let pointer = { x: 0, y: 0 };
  let frame = 0;

  function area(): DOMRect {
    const x = start.x - scrollX;
    const y = start.y - scrollY;
    return new DOMRect(
      Math.min(x, pointer.x),
      Math.min(y, pointer.y),
      Math.abs(pointer.x - x),
      Math.abs(pointer.y - y),
    );
  }

  function draw() {
    if (box === undefined) return;
    const speed = speedAt(pointer.y);
    if (speed !== 0) scrollBy({ top: speed, behavior: 'instant' });
    const { left, top, width, height } = area();
    Object.assign(box.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${width}px`,
      height: `${height}px`,
    });
    onmove(area());
    frame = requestAnimationFrame(draw);
  }

  function begin() {
    box = document.createElement('div');
    box.className = 'selection-rectangle';
    document.body.append(box);
    getSelection()?.removeAllRanges();
    frame = requestAnimationFrame(draw);
  }

  function move(event: PointerEvent) {
    pointer = { x: event.clientX, y: event.clientY };
    const { width, height } = area();
    if (box === undefined && Math.hypot(width, height) >= threshold) begin();
    if (box !== undefined) event.preventDefault();
  }

  function end() {
    removeEventListener('pointermove', move);
    removeEventListener('pointerup', finish);
    removeEventListener('pointercancel', cancel);
    removeEventListener('keydown', handleEscape, true);
    cancelAnimationFrame(frame);
    box?.remove();
    box = undefined;
  }

  function finish() {
    if (box !== undefined) {
      onmove(area());
      // The click that ends the drag opens nothing. It comes before the next task, if it comes.
      addEventListener('click', swallow, { capture: true, once: true });
      setTimeout(() => removeEventListener('click', swallow, { capture: true }));
    }
    end();
  }

  function cancel() {
    if (box !== undefined) oncancel();
    end();
  }

  function handleEscape(event: KeyboardEvent) {
    if (event.key !== 'Escape' || box === undefined) return;
    event.stopPropagation();
    cancel();
  }

  function press(event: PointerEvent) {
    if (event.pointerType !== 'mouse' || event.button !== 0 || !mayStart(event)) return;
    start = { x: event.pageX, y: event.pageY };
    pointer = { x: event.clientX, y: event.clientY };
    addEventListener('pointermove', move);
    addEventListener('pointerup', finish);
    addEventListener('pointercancel', cancel);
    addEventListener('keydown', handleEscape, true);
  }

  // Links would be dragged away by the browser.
  const keep = (event: DragEvent) => event.preventDefault();

  within.addEventListener('pointerdown', press);
  within.addEventListener('dragstart', keep);
  return () => {
    end();
    within.removeEventListener('pointerdown', press);
    within.removeEventListener('dragstart', keep);
  };
}

function swallow(event: Event) {
  event.preventDefault();
  event.stopPropagation();
}
