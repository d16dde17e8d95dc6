/** A period and its notifications. */
export interface Period<T> {
  readonly label: string;
  readonly items: readonly T[];
}

function startOfDay(now: number, back: number): number {
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - back);
  return day.getTime();
}

/** Groups notifications, newest first, by their age in the reader's time zone. Omits empty periods. */
export function byPeriod<T extends { readonly happened_at: string }>(
  items: readonly T[],
  now: number,
): Period<T>[] {
  const starts = [
    { label: 'Today', from: startOfDay(now, 0) },
    { label: 'Yesterday', from: startOfDay(now, 1) },
    { label: 'This week', from: startOfDay(now, 6) },
    { label: 'Earlier', from: Number.NEGATIVE_INFINITY },
  ];
  const periodOf = (item: T) => starts.find(({ from }) => Date.parse(item.happened_at) >= from)?.label;
  return starts
    .map(({ label }) => ({ label, items: items.filter((item) => periodOf(item) === label) }))
    .filter((stretch) => stretch.items.length > 0);
}
