/**
 * Returns whether something has been open. Its code loads when it opens for the first time; it stays mounted afterwards,
 * because it ends its own transitions and returns the focus.
 */
export function everOpen(isOpen: () => boolean): { readonly current: boolean } {
  let ever = $state(false);
  $effect.pre(() => {
    if (isOpen()) ever = true;
  });
  return {
    get current() {
      return ever;
    },
  };
}
