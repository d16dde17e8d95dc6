import { type Box, boxOf, isDuring } from '#lib/annotations/anchor.ts';
import type { Mark } from '#lib/annotations/mark.ts';
import type { Size } from './compare.ts';

/** Returns where a picture is in a box of another shape that shows it whole, in fractions of the box. */
export function placeInBox({ width, height }: Size, ratio: number): Box {
  const own = width / height;
  const [w, h] = own < ratio ? [own / ratio, 1] : [1, ratio / own];
  return { x: (1 - w) / 2, y: (1 - h) / 2, w, h };
}

/** Returns the path around the place of an annotation; undefined if it has none or it is a point. */
export function pathOf({ comment }: Mark): string | undefined {
  const { anchor } = comment.annotation;
  if (anchor.kind === 'shape') return `M${anchor.points.map(([x = 0, y = 0]) => `${x} ${y}`).join('L')}z`;
  const box = boxOf(anchor);
  return box === undefined || (box.w === 0 && box.h === 0)
    ? undefined
    : `M${box.x} ${box.y}h${box.w}v${box.h}h${-box.w}z`;
}

/** Returns whether an annotation is about what is on the screen: a page, or a moment. */
export function isOnScreen(
  { comment }: Mark,
  { page, ...moment }: { page: number } & Parameters<typeof isDuring>[1],
): boolean {
  const { anchor } = comment.annotation;
  return anchor.kind === 'page' ? anchor.page === page : isDuring(anchor, moment);
}
