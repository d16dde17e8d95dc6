interface Steps {
  /** How many items each task adds. */
  readonly step: number;
  /** Whether there is no limit from the beginning. */
  readonly atOnce: boolean;
}

/**
 * Returns how many of `count` items to render: `step` more in each task, so that the browser can draw in between, and then
 * without a limit. Waits while `count` is zero.
 */
export function inTasks(count: () => number, { step, atOnce }: Steps): { readonly current: number } {
  let current = $state(atOnce ? Number.POSITIVE_INFINITY : 0);
  $effect(() => {
    const all = count();
    if (current >= all) return;
    const next = current + step < all ? current + step : Number.POSITIVE_INFINITY;
    const timer = setTimeout(() => (current = next));
    return () => clearTimeout(timer);
  });
  return {
    get current() {
      return current;
    },
  };
}
