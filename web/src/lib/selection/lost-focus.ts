/**
 * Moves the focus to the list in which items are selected, if the focused element is gone: to the item in the tab order,
 * otherwise to the button that starts selecting.
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
