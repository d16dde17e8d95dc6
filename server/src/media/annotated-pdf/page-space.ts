import type { PDFPage } from '@cantoo/pdf-lib';

/** The coefficients of a matrix in the order of the operator `cm`. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** A page as readers see it: with its crop box, and turned. */
export interface PageSpace {
  /** The size of the page as it is shown, in points. */
  readonly width: number;
  readonly height: number;
  /** From points right of and below the upper left corner of the shown page to the coordinates of the file. */
  readonly matrix: Matrix;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Returns what two boxes have in common; the second if they have nothing. */
function common(crop: Box, media: Box): Box {
  const [x, y] = [Math.max(crop.x, media.x), Math.max(crop.y, media.y)];
  const width = Math.min(crop.x + crop.width, media.x + media.width) - x;
  const height = Math.min(crop.y + crop.height, media.y + media.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : media;
}

/** Returns how places of the shown page are written in the file, as renditions of pages show it. */
export function spaceOf(page: PDFPage): PageSpace {
  const { x: left, y: bottom, width, height } = common(page.getCropBox(), page.getMediaBox());
  const [right, top] = [left + width, bottom + height];
  const turn = ((page.getRotation().angle % 360) + 360) % 360;
  if (turn === 90) return { width: height, height: width, matrix: [0, 1, 1, 0, left, bottom] };
  if (turn === 180) return { width, height, matrix: [-1, 0, 0, 1, right, bottom] };
  if (turn === 270) return { width: height, height: width, matrix: [0, -1, -1, 0, right, top] };
  return { width, height, matrix: [1, 0, 0, -1, left, top] };
}

/** Returns a place of the shown page in the coordinates of the file. */
export function placed([a, b, c, d, e, f]: Matrix, x: number, y: number): readonly [x: number, y: number] {
  return [a * x + c * y + e, b * x + d * y + f];
}

/** Returns the rectangle of the file around a rectangle of the shown page: its lower left and upper right corners. */
export function rectOf(matrix: Matrix, { x, y, width, height }: Box): [number, number, number, number] {
  const [x1, y1] = placed(matrix, x, y);
  const [x2, y2] = placed(matrix, x + width, y + height);
  return [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];
}
