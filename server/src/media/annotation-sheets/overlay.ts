import type { Anchor } from '@vitrine/contract/annotations';
import { type DrawnSize, usualColor } from '@vitrine/contract/stroke-shapes';
import type { Stroke } from '@vitrine/contract/strokes';
import { drawnStrokes, svgOf } from '../drawn-strokes.ts';
import { measure, pathOf } from '../typesetting/set-text.ts';

/** Where the number of an annotation is, in fractions; null for anchors without a place in the picture. */
function pinAt(anchor: Anchor): { x: number; y: number } | null {
  if (anchor.kind === 'camera') return null;
  if (anchor.kind === 'shape') {
    const [x = 0, y = 0] = anchor.points[0] ?? [];
    return { x, y };
  }
  const { x, y } = anchor;
  return x === undefined || y === undefined ? null : { x, y };
}

function outlineOf(anchor: Anchor, { width, height }: DrawnSize): string {
  const look = `fill="none" stroke="${usualColor}" stroke-width="${width / 300}"`;
  if (anchor.kind === 'shape') {
    const points = anchor.points.map(([x = 0, y = 0]) => `${x * width},${y * height}`);
    return `<polygon points="${points.join(' ')}" ${look}/>`;
  }
  if (anchor.kind === 'camera' || anchor.kind === 'point' || anchor.w === undefined) return '';
  const { x = 0, y = 0, w, h = 0 } = anchor;
  return `<rect x="${x * width}" y="${y * height}" width="${w * width}" height="${h * height}" ${look}/>`;
}

/** What is drawn over a picture. Without a number an annotation has no pin. */
export interface Drawn {
  number: number | null;
  anchor: Anchor;
  strokes: readonly Stroke[];
}

function pinOf({ number, anchor }: Drawn, { width, height }: DrawnSize): string {
  const at = pinAt(anchor);
  if (number === null || at === null) return '';
  const radius = Math.max(10, width / 50);
  const label = String(number);
  const letters = (radius * 1.2) / Math.max(1, label.length * 0.6);
  // A pin stays within the picture.
  const x = Math.min(width - radius, Math.max(radius, at.x * width));
  const y = Math.min(height - radius, Math.max(radius, at.y * height));
  const path = pathOf('bold', label, letters, x - measure('bold', label, letters) / 2, y + letters * 0.36);
  const ring = `stroke="#fff" stroke-width="${radius / 6}"`;
  return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${usualColor}" ${ring}/><path d="${path}" fill="#fff"/>`;
}

/** Returns an SVG of this size with drawings, outlines and numbered pins, to be laid over the picture. */
export function overlay(drawn: readonly Drawn[], size: DrawnSize): Buffer {
  const below = drawn.map(({ strokes, anchor }) => drawnStrokes(strokes, size) + outlineOf(anchor, size));
  const above = drawn.map((annotation) => pinOf(annotation, size));
  return svgOf([...below, ...above].join(''), size);
}
