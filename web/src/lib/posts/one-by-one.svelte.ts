/**
 * Returns how many of `count` items to render: one more in each task, so that the browser can draw in between, and then
 * without a limit. If `atOnce`, there is no limit from the beginning.
 */
export function oneByOne(count: () => number, atOnce: boolean): { readonly current: number } {
  let current = $state(atOnce ? Number.POSITIVE_INFINITY : 0);
  $effect(() => {
    if (current >= count()) return;
    const next = current + 1 < count() ? current + 1 : Number.POSITIVE_INFINITY;
    const timer = setTimeout(() => (current = next));
    return () => clearTimeout(timer);
  });
  return {
    get current() {
      return current;
    },
  };
}
