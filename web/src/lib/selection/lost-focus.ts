/**
 * Gives the focus to the list in which items are chosen, if what had it is gone: to the item that is a stop of the Tab
 * key, otherwise to the button that begins to choose.
 */
export function recoverFocus(): void {
  setTimeout(() => {
    if (document.activeElement !== document.body) return;
    const stop =
      document.querySelector<HTMLElement>('[data-select] [tabindex="0"]') ??
      document.querySelector<HTMLElement>('[data-begins-selection]');
    stop?.focus({ preventScroll: true });
  });
}
