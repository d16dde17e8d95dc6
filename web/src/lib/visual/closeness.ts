/** How near a picture is, in words; undefined for one that is not much like it at all. */
export function closenessOf(distance: number): string | undefined {
  if (distance <= 0.02) return 'The same picture';
  if (distance <= 0.12) return 'Nearly the same';
  if (distance <= 0.35) return 'Alike';
  return undefined;
}
