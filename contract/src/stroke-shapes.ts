import { getStroke } from 'perfect-freehand';
import type { Stroke } from './strokes.ts';

/** The size of what is drawn on, in the unit of the shapes. */
export interface DrawnSize {
  readonly width: number;
  readonly height: number;
}

/** What a stroke looks like: a filled outline, a line of even width, or lines of text. */
export type StrokeShape = { readonly color: string } & (
  | { readonly kind: 'filled'; readonly path: string }
  | { readonly kind: 'line'; readonly path: string; readonly width: number }
  | {
      readonly kind: 'text';
      readonly x: number;
      /** The baseline of each line. */
      readonly lines: readonly { readonly text: string; readonly y: number }[];
      readonly size: number;
    }
);

/** What clients draw with if a stroke does not say so. */
export const usualColor = '#e5484d';
const usualWidth = 0.005;
const usualTextSize = 0.035;

const lineHeight = 1.25;
/** How far the baseline of a line is below its top, as a fraction of the height of the letters. */
const ascent = 0.95;

/** Returns how a stroke is drawn on something of this size, so that pages and exported pictures look the same. */
export function shapeOf(stroke: Stroke, size: DrawnSize): StrokeShape {
  const color = stroke.color ?? usualColor;
  const points = stroke.points.map(([x = 0, y = 0, pressure]) => ({
    x: x * size.width,
    y: y * size.height,
    pressure,
  }));
  const [first = { x: 0, y: 0 }, second = first] = points;
  if (stroke.tool === 'text') {
    const letters = (stroke.width ?? usualTextSize) * size.width;
    const lines = stroke.text.split('\n').map((text, at) => ({
      text,
      y: first.y + letters * (ascent + lineHeight * at),
    }));
    return { kind: 'text', color, x: first.x, lines, size: letters };
  }
  const width = (stroke.width ?? usualWidth) * size.width;
  if (stroke.tool === 'arrow') return { kind: 'line', color, width, path: arrow(first, second, width) };
  if (stroke.tool === 'rect') {
    const path = `M${pair(first)}H${short(second.x)}V${short(second.y)}H${short(first.x)}Z`;
    return { kind: 'line', color, width, path };
  }
  const hasPressure = points.some(({ pressure }) => pressure !== undefined);
  const outline = getStroke(
    points.map(({ x, y, pressure = 0.5 }) => ({ x, y, pressure })),
    // Without a pressure, a line of even width is closer to what a mouse or a finger has drawn.
    {
      size: width * (hasPressure ? 1.6 : 1),
      thinning: hasPressure ? 0.7 : 0,
      simulatePressure: false,
      last: true,
    },
  );
  return { kind: 'filled', color, path: smooth(outline) };
}

interface Place {
  readonly x: number;
  readonly y: number;
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function pair({ x, y }: Place): string {
  return `${short(x)} ${short(y)}`;
}

/** A shaft and two sides of a head, which is never longer than the half of a short arrow. */
function arrow(from: Place, to: Place, width: number): string {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const head = Math.min(width * 5, length / 2);
  const side = (angle: number): Place => {
    const direction = Math.atan2(dy, dx) + Math.PI + angle;
    return { x: to.x + head * Math.cos(direction), y: to.y + head * Math.sin(direction) };
  };
  return `M${pair(from)}L${pair(to)}M${pair(side(0.5))}L${pair(to)}L${pair(side(-0.5))}`;
}

/** A closed path through the middles of the edges of an outline. */
function smooth(outline: readonly number[][]): string {
  const corners = outline.map(([x = 0, y = 0]) => ({ x, y }));
  const [start] = corners;
  if (start === undefined) return '';
  const middle = (from: Place, to: Place) => ({ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 });
  const curves = corners.map(
    (corner, at) => `${pair(corner)} ${pair(middle(corner, corners[at + 1] ?? start))}`,
  );
  return `M${pair(middle(corners.at(-1) ?? start, start))}Q${curves.join(' ')}Z`;
}
