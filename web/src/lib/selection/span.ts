/** Returns the items from one to another in their order, whichever comes first; only `to` if `from` is not there. */
export function span(order: readonly string[], from: string, to: string): readonly string[] {
  const start = order.indexOf(from);
  const end = order.indexOf(to);
  if (start < 0 || end < 0) return [to];
  return order.slice(Math.min(start, end), Math.max(start, end) + 1);
}
