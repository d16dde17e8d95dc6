/** Returns the list with one id moved to another index, limited to the ends of the list. */
export function movedTo(ids: readonly string[], id: string, to: number): readonly string[] {
  if (!ids.includes(id)) return ids;
  const rest = ids.filter((other) => other !== id);
  const place = Math.min(rest.length, Math.max(0, to));
  return [...rest.slice(0, place), id, ...rest.slice(place)];
}

export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** Returns the index of the spot nearest to a point; -1 if there are none. */
export function nearestSpot(spots: readonly Spot[], point: Spot): number {
  let nearest = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const [at, spot] of spots.entries()) {
    const distance = (spot.x - point.x) ** 2 + (spot.y - point.y) ** 2;
    if (distance < least) {
      least = distance;
      nearest = at;
    }
  }
  return nearest;
}
