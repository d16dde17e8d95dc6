import { type Cluster, clustersOf } from './clusters.ts';
import { type Direction, directionOfText, levelsOf, runsOf } from './directions.ts';
import type { Face } from './faces.ts';
import { outline } from './outlines.ts';

/** The direction of the paragraph of a line, and the levels of the line's characters in it. */
export interface Bidi {
  base: Direction;
  levels: Uint8Array;
}

/** Returns the direction and the levels of a text that is a paragraph of its own. */
export function bidiOf(text: string, base: Direction = directionOfText(text)): Bidi {
  return { base, levels: levelsOf(text, base) };
}

/** Returns a line from left to right. */
export function lineOfClusters(face: Face, line: string, { base, levels }: Bidi = bidiOf(line)): Cluster[] {
  return runsOf(line, levels, base).flatMap(({ start, end, direction }) =>
    clustersOf(face, line.slice(start, end), direction),
  );
}

/** Returns path data of a cluster with its origin at `x`, `y`; of a bar if no bundled face has its character. */
export function pathOfCluster(
  { glyphs, isMissing, width }: Cluster,
  size: number,
  x: number,
  y: number,
): string {
  if (isMissing) {
    const [left, top] = [Math.round(x + size * 0.08), Math.round(y - size * 0.6)];
    const across = Math.round(width * size - size * 0.16);
    return `M${left} ${top}h${across}v${Math.round(size * 0.55)}h${-across}Z`;
  }
  return glyphs
    .map((placed) =>
      outline(placed.glyph, size / placed.font.unitsPerEm, x + placed.x * size, y - placed.y * size),
    )
    .join('');
}

/**
 * Returns path data of a text whose left end is at `x` on the baseline `y`. Letters join, and parts in scripts from right
 * to left are in that order. A bar takes the place of a character without a glyph.
 */
export function pathOf(face: Face, text: string, size: number, x: number, y: number): string {
  let pen = x;
  let data = '';
  for (const cluster of lineOfClusters(face, text)) {
    data += pathOfCluster(cluster, size, pen, y);
    pen += cluster.width * size;
  }
  return data;
}

/** Returns the width of a text in pixels. */
export function measure(face: Face, text: string, size: number): number {
  return lineOfClusters(face, text).reduce((width, cluster) => width + cluster.width, 0) * size;
}
