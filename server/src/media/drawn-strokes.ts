import { type DrawnSize, shapeOf } from '@vitrine/contract/stroke-shapes';
import type { Stroke } from '@vitrine/contract/strokes';
import { escapeHtml } from '../platform/escape-html.ts';
import { pathOf } from './typesetting/set-text.ts';

/** Returns strokes as SVG elements. Letters are paths, so that they look the same on every machine. */
export function drawnStrokes(strokes: readonly Stroke[], size: DrawnSize): string {
  const elements = strokes.map((stroke) => {
    const shape = shapeOf(stroke, size);
    const color = escapeHtml(shape.color);
    if (shape.kind === 'filled') return `<path fill="${color}" d="${shape.path}"/>`;
    if (shape.kind === 'line')
      return `<path fill="none" stroke="${color}" stroke-width="${shape.width}" stroke-linecap="round" stroke-linejoin="round" d="${shape.path}"/>`;
    const lines = shape.lines.map(({ text, y }) => pathOf('bold', text, shape.size, shape.x, y));
    return `<path fill="${color}" d="${lines.join('')}"/>`;
  });
  return elements.join('');
}

/** Returns an SVG of this size with these elements. */
export function svgOf(elements: string, { width, height }: DrawnSize): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${elements}</svg>`,
  );
}
