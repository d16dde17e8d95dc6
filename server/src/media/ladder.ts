/** How a rendition is encoded. */
export type PreviewFormat = 'webp' | 'avif' | 'jpeg';

/** One size of the preview ladder. `cover` is a square centre crop; `contain` keeps the aspect ratio. */
export interface Rung {
  key: string;
  fit: 'cover' | 'contain';
  /** Longest edge in pixels; smaller originals are never enlarged. */
  maxDim: number;
  format: PreviewFormat;
  /** 1 to 100. */
  quality: number;
}

/** MEDIA-2: the default ladder. */
export const defaultLadder: readonly Rung[] = [
  { key: 'col', fit: 'cover', maxDim: 320, format: 'webp', quality: 80 },
  { key: 'preview', fit: 'contain', maxDim: 1024, format: 'webp', quality: 80 },
  { key: 'screen', fit: 'contain', maxDim: 2048, format: 'webp', quality: 80 },
  { key: 'hires', fit: 'contain', maxDim: 4096, format: 'webp', quality: 80 },
];

/** Returns the keys of a ladder's rungs. */
export function keysOf(ladder: readonly Rung[]): string[] {
  return ladder.map((rung) => rung.key);
}

/** Width and height in pixels. */
export interface Shape {
  width: number;
  height: number;
}

/** Maximum width and height of a WebP, in pixels. */
const WEBP_MAX_DIM = 16_383;

/**
 * Returns the shape of a picture scaled down to `maxDim` at its longest edge. Never enlarges; both edges have at
 * least one pixel.
 */
export function contain(maxDim: number, { width, height }: Shape): Shape {
  const scale = Math.min(1, Math.min(maxDim, WEBP_MAX_DIM) / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** Returns the shape of a rung made from a picture of this shape. */
export function shapeOfRung({ fit, maxDim }: Rung, original: Shape): Shape {
  if (fit === 'contain') return contain(maxDim, original);
  const side = Math.min(maxDim, WEBP_MAX_DIM, original.width, original.height);
  return { width: side, height: side };
}

/** One file to make, for one rung or for several whose bytes are identical. */
export interface Step {
  keys: string[];
  shape: Shape;
  format: PreviewFormat;
  quality: number;
  /** Whether the picture is cropped to its centre; otherwise all of it is shown. */
  cropped: boolean;
}

/** Returns the files of a ladder for a picture of this shape, largest first. */
export function stepsOf(rungs: readonly Rung[], original: Shape): Step[] {
  const steps = new Map<string, Step>();
  for (const rung of rungs) {
    const shape = shapeOfRung(rung, original);
    // A square picture needs no crop.
    const cropped = rung.fit === 'cover' && original.width !== original.height;
    const { format, quality } = rung;
    const id = `${cropped} ${shape.width} ${shape.height} ${format} ${quality}`;
    const step = steps.get(id);
    if (step === undefined) steps.set(id, { keys: [rung.key], shape, format, quality, cropped });
    else step.keys.push(rung.key);
  }
  return [...steps.values()].sort((a, b) => b.shape.width * b.shape.height - a.shape.width * a.shape.height);
}
