/** The list with one id at another place; a place outside is the nearest end. */
export function movedTo(ids: readonly string[], id: string, to: number): readonly string[] {
  if (!ids.includes(id)) return ids;
  const rest = ids.filter((one) => one !== id);
  const place = Math.min(rest.length, Math.max(0, to));
  return [...rest.slice(0, place), id, ...rest.slice(place)];
}
