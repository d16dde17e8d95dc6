/** Milliseconds that a finger rests, and pixels that it may move meanwhile. */
const rest = 450;
const slack = 10;

/** Calls `onpress` when a finger rests on something in an element. Returns a function that stops listening. */
export function watchLongPress(within: HTMLElement, onpress: (target: Element) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let start = { x: 0, y: 0 };
  let pressed = false;

  const stop = () => clearTimeout(timer);

  function down({ pointerType, isPrimary, target, clientX, clientY }: PointerEvent) {
    stop();
    pressed = false;
    if (pointerType !== 'touch' || !isPrimary || !(target instanceof Element)) return;
    start = { x: clientX, y: clientY };
    timer = setTimeout(() => {
      pressed = true;
      onpress(target);
    }, rest);
  }

  function move({ clientX, clientY }: PointerEvent) {
    if (Math.hypot(clientX - start.x, clientY - start.y) > slack) stop();
  }

  // The menu of a link, and the click when the finger is lifted.
  function suppress(event: Event) {
    const isMenuOfTouch =
      event.type === 'contextmenu' && event instanceof PointerEvent && event.pointerType === 'touch';
    if (!pressed && !isMenuOfTouch) return;
    event.preventDefault();
    if (event.type === 'click') {
      // Other listeners of this element come later, too.
      event.stopImmediatePropagation();
      pressed = false;
    }
  }

  within.addEventListener('pointerdown', down);
  within.addEventListener('pointermove', move);
  for (const type of ['pointerup', 'pointercancel']) within.addEventListener(type, stop);
  for (const type of ['click', 'contextmenu']) within.addEventListener(type, suppress, true);
  return () => {
    stop();
    within.removeEventListener('pointerdown', down);
    within.removeEventListener('pointermove', move);
    for (const type of ['pointerup', 'pointercancel']) within.removeEventListener(type, stop);
    for (const type of ['click', 'contextmenu']) within.removeEventListener(type, suppress, true);
  };
}
