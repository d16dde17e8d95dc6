/** How two pictures are compared. */
export type Mode = 'side' | 'slider' | 'difference';

export const modes: readonly { readonly value: Mode; readonly label: string }[] = [
  { value: 'side', label: 'Side by side' },
  { value: 'slider', label: 'Slider' },
  { value: 'difference', label: 'Difference' },
];

interface Size {
  readonly pixel_width: number | null;
  readonly pixel_height: number | null;
}

/** Returns the ratio of width to height of a box for both pictures; that of the wider one. */
export function ratioOfBoth(left: Size, right: Size): number {
  const ratioOf = ({ pixel_width, pixel_height }: Size) =>
    pixel_width === null || pixel_height === null ? 1 : pixel_width / pixel_height;
  return Math.max(ratioOf(left), ratioOf(right));
}

/** Returns whether the pictures have the same shape, so that their pixels correspond. */
export function haveSameShape(left: Size, right: Size): boolean {
  if (left.pixel_width === null || right.pixel_width === null) return false;
  if (left.pixel_height === null || right.pixel_height === null) return false;
  const before = left.pixel_width / left.pixel_height;
  const after = right.pixel_width / right.pixel_height;
  return Math.abs(before / after - 1) < 0.01;
}
