/** How two pictures are compared. */
export type Mode = 'side' | 'slider' | 'difference';

export const modes: readonly { readonly value: Mode; readonly label: string }[] = [
  { value: 'side', label: 'Side by side' },
  { value: 'slider', label: 'Slider' },
  { value: 'difference', label: 'Difference' },
];

/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Returns the ratio of width to height of a box for both pictures; that of the wider one. */
export function ratioOfBoth(sizes: readonly (Size | undefined)[]): number {
  const ratios = sizes.flatMap((size) => (size === undefined ? [] : [size.width / size.height]));
  return ratios.length === 0 ? 1 : Math.max(...ratios);
}

/** Returns whether the pictures have the same shape, so that their pixels correspond. */
export function haveSameShape(left: Size | undefined, right: Size | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  return Math.abs(left.width / left.height / (right.width / right.height) - 1) < 0.01;
}
