import type { PDFOperator } from '@cantoo/pdf-lib';
import { shapeOf, usualColor } from '@vitrine/contract/stroke-shapes';
import type { Stroke } from '@vitrine/contract/strokes';
import { measure, pathOf } from '../typesetting/set-text.ts';
import type { PageSpace } from './page-space.ts';

type PdfLib = typeof import('@cantoo/pdf-lib');

/** Where an annotation is on the shown page, in points from its upper left corner. */
export interface Extent {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A place in fractions of a page; without a size it is a point. */
export interface Place {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** The size of a note on a page, in points. */
const NOTE = 18;
/** The width of the line around a region, in points. */
export const LINE = 1.5;

/** Returns the parts of a colour, from 0 to 1. */
export function partsOf(color: string): [number, number, number] {
  const value = Number.parseInt(color.slice(1), 16);
  return [((value >> 16) & 255) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

const asIs = (lib: PdfLib) => ({ x: 0, y: 0, scale: undefined, rotate: lib.degrees(0) });

function fill(lib: PdfLib, path: string, color: string): PDFOperator[] {
  const none = { borderColor: undefined, borderWidth: 0 };
  return lib.drawSvgPath(path, { ...asIs(lib), ...none, color: lib.rgb(...partsOf(color)) });
}

function line(lib: PdfLib, path: string, color: string, width: number): PDFOperator[] {
  const border = {
    borderColor: lib.rgb(...partsOf(color)),
    borderWidth: width,
    borderLineCap: lib.LineCapStyle.Round,
  };
  return lib.drawSvgPath(path, { ...asIs(lib), ...border, color: undefined });
}

/**
 * Draws a stroke as pages show it, in points up from the upper left corner: PDF paths have their y axis up. Letters are
 * paths, because the standard fonts of PDF have Latin ones only.
 */
export function drawStroke(lib: PdfLib, stroke: Stroke, space: PageSpace): PDFOperator[] {
  const shape = shapeOf(stroke, space);
  if (shape.kind === 'filled') return fill(lib, shape.path, shape.color);
  if (shape.kind === 'line') return line(lib, shape.path, shape.color, shape.width);
  const letters = shape.lines.map(({ text, y }) => pathOf('bold', text, shape.size, shape.x, y));
  return letters.filter((path) => path !== '').flatMap((path) => fill(lib, path, shape.color));
}

/** Returns the part of the page that a stroke covers. */
function extentOfStroke(stroke: Stroke, space: PageSpace): Extent {
  const shape = shapeOf(stroke, space);
  if (shape.kind === 'text') {
    const widths = shape.lines.map(({ text }) => measure('bold', text, shape.size));
    const [top = 0] = stroke.points.map(([, y = 0]) => y * space.height);
    const height = shape.size * 1.4 * shape.lines.length;
    return { x: shape.x, y: top, width: Math.max(1, ...widths), height };
  }
  const xs = stroke.points.map(([x = 0]) => x * space.width);
  const ys = stroke.points.map(([, y = 0]) => y * space.height);
  // The head of an arrow and a line under full pressure are wider than the line.
  const margin = (stroke.width ?? 0.005) * space.width * (stroke.tool === 'arrow' ? 5 : 1) + 1;
  const [x, y] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  return { x, y, width: Math.max(...xs) + margin - x, height: Math.max(...ys) + margin - y };
}

/** Returns the smallest extent around all of them. */
export function extentOf(strokes: readonly Stroke[], space: PageSpace): Extent {
  const all = strokes.map((stroke) => extentOfStroke(stroke, space));
  const [x, y] = [Math.min(...all.map((one) => one.x)), Math.min(...all.map((one) => one.y))];
  const right = Math.max(...all.map((one) => one.x + one.width));
  const below = Math.max(...all.map((one) => one.y + one.height));
  return { x, y, width: right - x, height: below - y };
}

/** Returns the extent of a region. */
export function extentOfRegion({ x, y, w, h }: Place, { width, height }: PageSpace): Extent {
  return { x: x * width, y: y * height, width: w * width, height: h * height };
}

/** Returns the extent of a note, which stays on the page; one without a place is in the upper left corner. */
export function extentOfNote(place: Place | null, { width, height }: PageSpace): Extent {
  const within = (at: number, size: number) => Math.max(0, Math.min(size - NOTE, at - NOTE / 2));
  const [x, y] = place === null ? [NOTE, NOTE] : [place.x * width, place.y * height];
  return { x: within(x, width), y: within(y, height), width: NOTE, height: NOTE };
}

/** Draws the outline of a region. */
export function drawRegion(lib: PdfLib, { x, y, width, height }: Extent): PDFOperator[] {
  return line(
    lib,
    `M${x} ${y}L${x + width} ${y}L${x + width} ${y + height}L${x} ${y + height}Z`,
    usualColor,
    LINE,
  );
}

/** Draws a note as a bubble. */
export function drawNote(lib: PdfLib, { x, y }: Extent): PDFOperator[] {
  const bubble = `M${x + 2} ${y + 2}L${x + 16} ${y + 2}L${x + 16} ${y + 12}L${x + 8} ${y + 12}L${x + 4} ${y + 16}L${x + 4} ${y + 12}L${x + 2} ${y + 12}Z`;
  return [...fill(lib, bubble, usualColor), ...line(lib, bubble, '#ffffff', 0.75)];
}
