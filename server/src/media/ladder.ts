/** One size of the preview ladder. `cover` is a square centre crop, `contain` keeps the shape. */
export interface Rung {
  key: string;
  fit: 'cover' | 'contain';
  /** Longest edge in pixels; a smaller original is never enlarged. */
  maxDim: number;
  format: 'webp';
}

/** choices, assets: the ladder of an install that configured none. */
export const defaultLadder: readonly Rung[] = [
  { key: 'col', fit: 'cover', maxDim: 320, format: 'webp' },
  { key: 'preview', fit: 'contain', maxDim: 1024, format: 'webp' },
  { key: 'screen', fit: 'contain', maxDim: 2048, format: 'webp' },
  { key: 'hires', fit: 'contain', maxDim: 4096, format: 'webp' },
];

/** The names of a ladder's rungs. */
export function keysOf(ladder: readonly Rung[]): string[] {
  return ladder.map((rung) => rung.key);
}
