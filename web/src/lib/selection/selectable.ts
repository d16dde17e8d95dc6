import type { Attachment } from 'svelte/attachments';
import { watchLongPress } from './long-press.ts';
import { isArrow, neighbour, type Place, readingOrder } from './neighbour.ts';
import { drawRectangle } from './rectangle.ts';
import type { Selection } from './selection.svelte.ts';

/** Marks an item with its id, and its link. The link has the focus of the item. */
const item = '[data-select]';
const opener = '[data-asset], [data-post]';
const control = 'a, button, input, select, textarea, label, summary, [role="button"], [role="slider"]';

const idOf = (element: Element | null | undefined): string | undefined =>
  element?.closest<HTMLElement>(item)?.dataset.select;

/** Returns the items that are on the page, in their order. */
function placesIn(list: HTMLElement): Place[] {
  return [...list.querySelectorAll<HTMLElement>(item)]
    .map((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return { id: element.dataset.select ?? '', left, top, width, height };
    })
    .toSorted(readingOrder);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable="true"]');
}

/**
 * Lets the items in an element be chosen: with the mouse (check mark, Shift, Ctrl or Cmd, rectangle), with the keyboard
 * (Space, Shift and arrows, Ctrl+A, Escape) and with a long press. Items have `data-select`, and a link with `data-asset`
 * or `data-post`.
 */
export function selectable(selection: Selection): Attachment<HTMLElement> {
  return (list) => {
    function handleClick(event: MouseEvent) {
      const { target } = event;
      if (!(target instanceof Element)) return;
      const id = idOf(target);
      const link = target.closest(opener);
      // Other links and buttons of an item work as usual.
      if (id === undefined || (link === null && target.closest(control) !== null)) return;
      const isKeyboard = event.detail === 0;
      if (event.shiftKey) selection.extendTo(id);
      else if (event.ctrlKey || event.metaKey || (selection.active && !isKeyboard)) selection.toggle(id);
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    /** Gives an item the focus. If it has not been rendered, the next one that leads there is at the edge. */
    function focusOn(id: string) {
      const element = list.querySelector<HTMLElement>(`[data-select="${CSS.escape(id)}"]`);
      const target =
        element?.querySelector<HTMLElement>(opener) ?? element?.querySelector<HTMLElement>('input');
      target?.focus();
      element?.scrollIntoView({ block: 'nearest' });
    }

    function handleKey(event: KeyboardEvent) {
      const { key, target } = event;
      const id = target instanceof Element && target.matches(opener) ? idOf(target) : undefined;
      if (id === undefined || event.altKey) return;
      if (key === ' ') {
        if (event.shiftKey) selection.extendTo(id);
        else selection.toggle(id);
      } else if (isArrow(key) && !event.ctrlKey && !event.metaKey) {
        const next = neighbour(placesIn(list), id, key);
        if (next === undefined) return;
        if (event.shiftKey) {
          // The first one begins the range.
          if (!selection.has(id)) selection.toggle(id);
          selection.extendTo(next);
        }
        focusOn(next);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    }

    function handlePageKey(event: KeyboardEvent) {
      if (event.defaultPrevented || isTyping(event.target)) return;
      if (document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null) return;
      if (event.key === 'Escape' && selection.active) selection.clear();
      else if (event.key.toLowerCase() === 'a' && (event.ctrlKey || event.metaKey) && !event.shiftKey) {
        selection.chooseLoaded();
        event.preventDefault();
      }
    }

    // What the rectangle touched: items that were scrolled out of the page keep what they had last.
    let touched = new Set<string>();
    const stopDrawing = drawRectangle(list, {
      mayStart({ target, shiftKey }) {
        if (!(target instanceof Element) || shiftKey) return false;
        const isFree = target.closest(control) === null || target.closest(opener) !== null;
        if (isFree) touched = new Set();
        return isFree;
      },
      onmove(area) {
        for (const { id, left, top, width, height } of placesIn(list)) {
          const isHit =
            left < area.right && left + width > area.left && top < area.bottom && top + height > area.top;
          if (isHit && !selection.has(id)) {
            touched.add(id);
            selection.add([id]);
          } else if (!isHit && touched.delete(id)) selection.remove([id]);
        }
      },
      oncancel: () => selection.remove(touched),
    });
    const stopPressing = watchLongPress(list, (target) => {
      const id = idOf(target);
      if (id !== undefined) selection.toggle(id);
    });
    // Before the links, which would open.
    list.addEventListener('click', handleClick, true);
    list.addEventListener('keydown', handleKey);
    addEventListener('keydown', handlePageKey);
    return () => {
      stopDrawing();
      stopPressing();
      list.removeEventListener('click', handleClick, true);
      list.removeEventListener('keydown', handleKey);
      removeEventListener('keydown', handlePageKey);
    };
  };
}
