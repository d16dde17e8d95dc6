import type { Attachment } from 'svelte/attachments';
import { isArrow, neighbour, readingOrder } from './neighbour.ts';

const control = 'a[href], button';

/**
 * Makes a grid of cards one stop of the Tab key: arrow keys lead from card to card, and only the controls of the card
 * that had the focus last, or of the first one, are reached by Tab.
 */
export const roving: Attachment<HTMLElement> = (list) => {
  let last: Element | undefined;

  const cardOf = (target: EventTarget | null) =>
    [...list.children].find((card) => target instanceof Node && card.contains(target));

  function apply() {
    const cards = [...list.children];
    const current = last?.isConnected ? last : cards[0];
    for (const card of cards)
      for (const one of card.querySelectorAll<HTMLElement>(control)) one.tabIndex = card === current ? 0 : -1;
  }

  function handleFocus({ target }: FocusEvent) {
    last = cardOf(target) ?? last;
    apply();
  }

  function handleKey(event: KeyboardEvent) {
    const { key, target } = event;
    if (!isArrow(key) || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    const cards = [...list.children];
    const places = cards
      .map((card, at) => {
        const { left, top, width, height } = card.getBoundingClientRect();
        return { id: String(at), left, top, width, height };
      })
      .toSorted(readingOrder);
    const here = cardOf(target);
    const from = here === undefined ? -1 : cards.indexOf(here);
    const next = neighbour(places, String(from), key);
    if (from < 0 || next === undefined) return;
    const card = cards[Number(next)];
    card?.querySelector<HTMLElement>(control)?.focus();
    card?.scrollIntoView({ block: 'nearest' });
    event.preventDefault();
    event.stopPropagation();
  }

  const observer = new MutationObserver(apply);
  observer.observe(list, { childList: true, subtree: true });
  list.addEventListener('focusin', handleFocus);
  list.addEventListener('keydown', handleKey);
  apply();
  return () => {
    observer.disconnect();
    list.removeEventListener('focusin', handleFocus);
    list.removeEventListener('keydown', handleKey);
  };
};
