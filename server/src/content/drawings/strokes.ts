import { drawingBounds } from '@vitrine/contract/limits';
import type { Stroke } from '@vitrine/contract/strokes';
import { refuse } from '../../platform/http/refuse.ts';

const KEPT_DECIMALS = 1e5;

/** BOARD-3, BOARD-6: strokes as they are stored, with five decimals, which is finer than any screen. */
export function keptStrokes(strokes: readonly Stroke[]): Stroke[] {
  const points = strokes.reduce((sum, stroke) => sum + stroke.points.length, 0);
  if (points > drawingBounds.points) throw refuse('drawing-too-large', { max: drawingBounds.points });
  return strokes.map((stroke) => ({ ...stroke, points: stroke.points.map(keptPoint) }));
}

function keptPoint(point: number[]): number[] {
  const pressure = point[2] ?? 0;
  if (pressure < 0 || pressure > 1) throw refuse('pressure-out-of-range');
  return point.map((value) => Math.round(value * KEPT_DECIMALS) / KEPT_DECIMALS);
}
