export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** The index of the spot nearest to a point; -1 without any. */
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
