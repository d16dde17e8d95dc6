import type { Glyph } from 'fontkit';

/** A glyph to store in a font. */
export interface StoredGlyph {
  codePoint: number;
  advance: number;
  commands: Glyph['path']['commands'];
}

const words = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value & 0xffff, index * 2);
  return bytes;
};
const longs = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return bytes;
};
const padded = (bytes: Buffer, to = 4): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((to - (bytes.length % to)) % to)]);

interface Contours {
  points: { x: number; y: number; isOn: boolean }[];
  ends: number[];
}

/** Returns the points of an outline of lines and quadratic curves. */
function contoursOf(commands: StoredGlyph['commands']): Contours {
  const points: Contours['points'] = [];
  const ends: number[] = [];
  const add = (x = 0, y = 0, isOn = true) => points.push({ x: Math.round(x), y: Math.round(y), isOn });
  const close = () => {
    if (points.length > (ends.at(-1) ?? -1) + 1) ends.push(points.length - 1);
  };
  for (const { command, args } of commands) {
    if (command === 'moveTo') close();
    if (command === 'closePath') close();
    else if (command === 'quadraticCurveTo') {
      add(args[0], args[1], false);
      add(args[2], args[3]);
    } else add(args.at(-2), args.at(-1));
  }
  close();
  return { points, ends };
}

interface Box {
  left: number;
  bottom: number;
  right: number;
  top: number;
}

function boxOf(points: Contours['points']): Box {
  const box = { left: 0x7fff, bottom: 0x7fff, right: -0x7fff, top: -0x7fff };
  for (const { x, y } of points) {
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.bottom = Math.min(box.bottom, y);
    box.top = Math.max(box.top, y);
  }
  return points.length === 0 ? { left: 0, bottom: 0, right: 0, top: 0 } : box;
}

/** Returns the entry of a glyph in the table `glyf`: all coordinates as differences of 16 bits. */
function outlineOf({ points, ends }: Contours, { left, bottom, right, top }: Box): Buffer {
  if (points.length === 0) return Buffer.alloc(0);
  const steps = (axis: 'x' | 'y') =>
    points.map((point, index) => point[axis] - (points[index - 1]?.[axis] ?? 0));
  return padded(
    Buffer.concat([
      words(ends.length, left, bottom, right, top, ...ends, 0),
      Buffer.from(points.map(({ isOn }) => (isOn ? 1 : 0))),
      words(...steps('x')),
      words(...steps('y')),
    ]),
  );
}

/** Returns the table `cmap` for the glyphs from 1, in order of their characters. */
function characterMap(glyphs: readonly StoredGlyph[]): Buffer {
  const groups = longs(...glyphs.flatMap(({ codePoint }, index) => [codePoint, codePoint, index + 1]));
  const head = Buffer.concat([words(12, 0), longs(16 + groups.length, 0, glyphs.length)]);
  return Buffer.concat([words(0, 1, 3, 10), longs(12), head, groups]);
}

/** Puts tables behind a directory. */
function sfnt(tables: Readonly<Record<string, Buffer>>): Buffer {
  const entries = Object.entries(tables).toSorted(([a], [b]) => (a < b ? -1 : 1));
  let at = 12 + entries.length * 16;
  const directory = entries.map(([tag, bytes]) => {
    const entry = Buffer.concat([Buffer.from(tag, 'latin1'), longs(0, at, bytes.length)]);
    at += padded(bytes).length;
    return entry;
  });
  // The fields for a binary search and the checksums, which no reader of glyphs needs, are 0.
  return Buffer.concat([
    longs(0x10000),
    words(entries.length, 0, 0, 0),
    ...directory,
    ...entries.map(([, bytes]) => padded(bytes)),
  ]);
}

/** Returns a TrueType font of these glyphs, in which 1,000 units are the size of the text. */
export function trueTypeOf(unsorted: readonly StoredGlyph[]): Buffer {
  const glyphs = unsorted.toSorted((a, b) => a.codePoint - b.codePoint);
  const contours = [contoursOf([]), ...glyphs.map(({ commands }) => contoursOf(commands))];
  const boxes = contours.map(({ points }) => boxOf(points));
  const outlines = contours.map((contour, index) => outlineOf(contour, boxes[index] ?? boxOf([])));
  const offsets = [0];
  for (const outline of outlines) offsets.push((offsets.at(-1) ?? 0) + outline.length);
  const most = (count: (contour: Contours) => number) =>
    contours.reduce((so, contour) => Math.max(so, count(contour)), 0);
  return sfnt({
    head: Buffer.concat([
      longs(0x10000, 0x10000, 0, 0x5f0f3cf5),
      words(0, 1000),
      longs(0, 0, 0, 0),
      words(-500, -500, 2000, 1500, 0, 8, 2, 1, 0),
    ]),
    hhea: Buffer.concat([
      longs(0x10000),
      words(880, -120, 0, 3000, -500, -500, 2000, 1, 0, 0, 0, 0, 0, 0, 0, contours.length),
    ]),
    maxp: Buffer.concat([
      longs(0x10000),
      words(
        contours.length,
        most(({ points }) => points.length),
        most(({ ends }) => ends.length),
      ),
      words(0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0),
    ]),
    hmtx: words(
      ...[{ advance: 1000 }, ...glyphs].flatMap(({ advance }, index) => [
        Math.round(advance),
        boxes[index]?.left ?? 0,
      ]),
    ),
    loca: longs(...offsets),
    glyf: Buffer.concat(outlines),
    cmap: characterMap(glyphs),
  });
}
