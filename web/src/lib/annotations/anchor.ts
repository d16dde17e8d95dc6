import type { Anchor } from '@vitrine/contract/annotations';
import { type FrameRate, frameAt, frameStart } from '@vitrine/contract/frames';
import type { Stroke } from '@vitrine/contract/strokes';

/** A rectangle in fractions of the width and height of the picture; a point has no size. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** A corner of a free shape, in the same fractions. */
export type Corner = readonly [x: number, y: number];

/** What was drawn on a picture, frame or page. */
export type Drawn =
  | { readonly kind: 'point'; readonly x: number; readonly y: number }
  | ({ readonly kind: 'region' } & Box)
  | { readonly kind: 'shape'; readonly points: readonly Corner[] };

/** Coordinates have six digits, a tenth of a pixel of the largest pictures. */
function rounded(fraction: number): number {
  return Math.round(Math.min(1, Math.max(0, fraction)) * 1e6) / 1e6;
}

/** Returns the smallest box around corners. */
function boxAround(corners: readonly Corner[]): Box {
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, w: Math.max(...xs) - x, h: Math.max(...ys) - y };
}

/** Returns what a pointer drew: a point unless it has moved, otherwise the region between its ends, or its whole way. */
export function drawnBy(way: readonly Corner[], { moved, free }: { moved: boolean; free: boolean }): Drawn {
  const corners = way.map(([x, y]): Corner => [rounded(x), rounded(y)]);
  const [from = [0.5, 0.5], to = from] = [corners[0], corners.at(-1)];
  if (!moved) return { kind: 'point', x: to[0], y: to[1] };
  if (free && corners.length > 2) return { kind: 'shape', points: thinned(corners, 1000) };
  const box = boxAround([from, to]);
  return { kind: 'region', ...box, w: rounded(box.w), h: rounded(box.h) };
}

function thinned(corners: readonly Corner[], most: number): Corner[] {
  const step = Math.ceil(corners.length / most);
  return corners.filter((_, index) => index % step === 0);
}

/** Returns the place of an annotation in its picture, frame or page; undefined if it is about all of it. */
export function boxOf(anchor: Anchor): Box | undefined {
  if (anchor.kind === 'camera') return undefined;
  if (anchor.kind === 'shape') return boxAround(anchor.points.map(([x = 0, y = 0]): Corner => [x, y]));
  const { x, y } = anchor;
  if (x === undefined || y === undefined) return undefined;
  const { w = 0, h = 0 } = anchor.kind === 'point' ? {} : anchor;
  return { x, y, w, h };
}

/**
 * Returns an anchor at another place of the same picture, frame or page. A shape of a frame or a page becomes the region
 * around it.
 */
export function anchorAt(anchor: Anchor, drawn: Drawn): Anchor {
  if (anchor.kind === 'camera') return anchor;
  if (anchor.kind !== 'time' && anchor.kind !== 'page')
    return drawn.kind === 'shape' ? { ...drawn, points: drawn.points.map((corner) => [...corner]) } : drawn;
  const { x: _x, y: _y, w: _w, h: _h, ...whole } = anchor;
  if (drawn.kind === 'point') return { ...whole, x: drawn.x, y: drawn.y };
  const { x, y, w, h } = drawn.kind === 'shape' ? boxAround(drawn.points) : drawn;
  return { ...whole, x, y, w, h };
}

/** Returns an anchor around what was drawn, or the same anchor if it is an area or nothing was drawn. */
export function anchorAround(anchor: Anchor, strokes: readonly Pick<Stroke, 'points'>[]): Anchor {
  const box = boxOf(anchor);
  const isArea = box !== undefined && (box.w > 0 || box.h > 0);
  if (isArea || strokes.length === 0) return anchor;
  const corners = strokes.flatMap(({ points }) => points.map(([x = 0, y = 0]): Corner => [x, y]));
  const { x, y, w, h } = boxAround(corners);
  return anchorAt(
    anchor,
    w === 0 && h === 0 ? { kind: 'point', x, y } : { kind: 'region', x, y, w: rounded(w), h: rounded(h) },
  );
}

/** Returns an anchor without its place, about the whole frame or page. */
export function anchorOfWhole(anchor: Anchor): Anchor {
  if (anchor.kind !== 'time' && anchor.kind !== 'page') return anchor;
  const { x: _x, y: _y, w: _w, h: _h, ...whole } = anchor;
  return whole;
}

/** Returns a moment with another start or end. An end that is not after the start is dropped. */
export function anchorDuring(anchor: Anchor, change: { start?: number; end?: number }): Anchor {
  if (anchor.kind !== 'time') return anchor;
  const { end: before, ...rest } = anchor;
  const start = change.start ?? anchor.start;
  const end = change.end ?? before;
  return { ...rest, start, ...(end === undefined || end <= start ? {} : { end }) };
}

/** Seconds for which a moment without an end stays on the picture of a playing film. */
const lingerSeconds = 2;

/**
 * Returns whether an annotation is shown at a position of a film or sound. Paused at a frame, only those of the frame
 * are.
 */
export function isDuring(
  anchor: Anchor,
  { time, paused, rate }: { time: number; paused: boolean; rate: FrameRate | undefined },
): boolean {
  if (anchor.kind !== 'time') return true;
  const { start, end } = anchor;
  if (rate === undefined || !paused) return time >= start && time < (end ?? start + lingerSeconds);
  const frame = frameAt(time, rate);
  const first = frameAt(start, rate);
  return frame >= first && frame < Math.max(first + 1, end === undefined ? 0 : frameAt(end, rate));
}

function clockWords(seconds: number): string {
  const tenths = Math.floor(seconds * 10 + 1e-6);
  const [hours, minutes] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60];
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** Returns where an annotation is, in words: `0:01.9, frame 47`, `Page 3`, `Area`. */
export function placeWords(anchor: Anchor, rate?: FrameRate): string {
  switch (anchor.kind) {
    case 'point':
      return 'Point';
    case 'region':
    case 'shape':
      return 'Area';
    case 'page':
      return `Page ${anchor.page}`;
    case 'camera':
      return '3D view';
    case 'time': {
      const { start, end } = anchor;
      if (end !== undefined) return `${clockWords(start)} – ${clockWords(end)}`;
      return rate === undefined ? clockWords(start) : `${clockWords(start)}, frame ${frameAt(start, rate)}`;
    }
  }
}

/** Returns the start of the frame that is shown at a position, which is the anchor of comments about it. */
export function momentAt(seconds: number, rate: FrameRate | undefined): number {
  return rate === undefined ? Math.round(seconds * 1000) / 1000 : frameStart(frameAt(seconds, rate), rate);
}

/** Orders annotations as the file is read: by time or page; those of a picture keep their order. */
export function inFileOrder(a: Anchor, b: Anchor): number {
  const position = (anchor: Anchor) =>
    anchor.kind === 'time' ? anchor.start : anchor.kind === 'page' ? anchor.page + (anchor.y ?? 0) / 2 : 0;
  return position(a) - position(b);
}
