import { damagedHeader } from '../still.ts';

/** Rewrites valid files of text-based model formats in the spelling that Assimp reads. */

/** Coordinates this many times farther from the origin than the size of the model lose their shape as 32-bit floats. */
const FAR = 1000;

/** Returns the middle of each axis if the points are far from the origin compared with their distances, otherwise null. */
function middleIfFar(points: Iterable<readonly [number, number, number]>): [number, number, number] | null {
  const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const most = least.map((value) => -value);
  for (const point of points) {
    for (const [axis, value] of point.entries()) {
      least[axis] = Math.min(least[axis] ?? value, value);
      most[axis] = Math.max(most[axis] ?? value, value);
    }
  }
  const middle = least.map((value, axis) => Math.round((value + (most[axis] ?? 0)) / 2));
  const size = Math.max(...least.map((value, axis) => (most[axis] ?? 0) - value));
  const distance = Math.max(...middle.map(Math.abs));
  if (!Number.isFinite(distance) || distance < size * FAR) return null;
  return [middle[0] ?? 0, middle[1] ?? 0, middle[2] ?? 0];
}

const moved = (value: string, by: number) => String(Number((Number(value) - by).toFixed(9)));

/** Moves the vertices of a text to the origin if they are far from it. The pattern's groups are the text before and three numbers. */
function nearOrigin(text: string, vertex: RegExp): string {
  const first = new RegExp(vertex.source, vertex.flags.replace('g', '')).exec(text);
  if (first === null || Math.max(...first.slice(2, 5).map((value) => Math.abs(Number(value)))) < FAR)
    return text;
  const points = function* (): Generator<readonly [number, number, number]> {
    for (const [, , x, y, z] of text.matchAll(vertex)) yield [Number(x), Number(y), Number(z)];
  };
  const middle = middleIfFar(points());
  if (middle === null) return text;
  return text.replace(
    vertex,
    (_, before: string, x: string, y: string, z: string) =>
      `${before}${moved(x, middle[0])} ${moved(y, middle[1])} ${moved(z, middle[2])}`,
  );
}

const unix = (text: string) => text.replace(/\r\n?/g, '\n');
const bytesOf = (text: string) => new TextEncoder().encode(text);

function respellObj(bytes: Buffer): Uint8Array {
  const text = unix(bytes.toString('latin1').replace(/^ï»¿/, '')).replace(/\\[ \t]*\n/g, ' ');
  const near = nearOrigin(text, /^([ \t]*v[ \t]+)([-+.\deE]+)[ \t]+([-+.\deE]+)[ \t]+([-+.\deE]+)/gm);
  return Buffer.from(near, 'latin1');
}

/** Returns the triangles of a binary STL without bytes after them, or null for a text, which may start like one. */
function binaryStl(bytes: Buffer): Buffer | null {
  const end = bytes.length < 84 ? Number.POSITIVE_INFINITY : 84 + 50 * bytes.readUInt32LE(80);
  if (end === bytes.length) return bytes;
  return end < bytes.length && bytes.subarray(0, end).includes(0) ? bytes.subarray(0, end) : null;
}

function respellStl(bytes: Buffer): Uint8Array {
  const binary = binaryStl(bytes);
  if (binary !== null) return binary;
  const text = unix(bytes.toString('latin1').trimStart()).toLowerCase();
  return bytesOf(nearOrigin(text, /^([ \t]*vertex[ \t]+)([-+.\de]+)[ \t]+([-+.\de]+)[ \t]+([-+.\de]+)/gm));
}

const plyTypes: ReadonlyMap<string, readonly [name: string, bytes: number]> = new Map([
  ['char', ['char', 1]],
  ['int8', ['char', 1]],
  ['uchar', ['uchar', 1]],
  ['uint8', ['uchar', 1]],
  ['short', ['short', 2]],
  ['int16', ['short', 2]],
  ['ushort', ['ushort', 2]],
  ['uint16', ['ushort', 2]],
  ['int', ['int', 4]],
  ['int32', ['int', 4]],
  ['uint', ['uint', 4]],
  ['uint32', ['uint', 4]],
  ['float', ['float', 4]],
  ['float32', ['float', 4]],
  ['double', ['double', 8]],
  ['float64', ['double', 8]],
]);

interface PlyElement {
  name: string;
  count: number;
  properties: { name: string; type: string; isList: boolean }[];
}

/** Reads and rewrites the header; `bodyAt` is where the data start. */
function readPlyHeader(bytes: Buffer): {
  header: string;
  bodyAt: number;
  format: string;
  elements: PlyElement[];
} {
  const start = bytes.toString('latin1', 0, 256 * 1024);
  const end = /(?:^|[\r\n])[ \t]*end_header[ \t]*(?:\r\n|\n|\r)/.exec(start);
  if (end === null) throw damagedHeader('it does not end');
  const lines = start
    .slice(0, end.index)
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim().split(/\s+/));
  const format = lines.find(([word]) => word === 'format')?.[1] ?? '';
  const elements: PlyElement[] = [];
  const written: string[] = [];
  const typeOf = (name = '') => plyTypes.get(name)?.[0] ?? name;
  for (const [word, ...rest] of lines) {
    if (word === 'element') {
      elements.push({ name: rest[0] ?? '', count: Number(rest[1]), properties: [] });
      written.push(`element ${rest.join(' ')}`);
    } else if (word === 'property') {
      const isList = rest[0] === 'list';
      const types = isList ? rest.slice(1, 3).map(typeOf) : [typeOf(rest[0])];
      const name = rest.at(-1) === 'vertex_index' ? 'vertex_indices' : (rest.at(-1) ?? '');
      elements.at(-1)?.properties.push({ name, type: types[0] ?? '', isList });
      written.push(`property ${isList ? 'list ' : ''}${types.join(' ')} ${name}`);
    }
  }
  const header = ['ply', `format ${format} 1.0`, ...written, 'end_header\n'].join('\n');
  return { header, bodyAt: end.index + end[0].length, format, elements };
}

/** Moves binary vertices to the origin, in place, if they are far from it. */
function movePoints(body: Buffer, vertices: PlyElement, isBig: boolean): void {
  const axes = ['x', 'y', 'z'].map((axis) => vertices.properties.findIndex(({ name }) => name === axis));
  const bytesOfType = (type: string) => plyTypes.get(type)?.[1] ?? 0;
  const offsets = axes.map((axis) =>
    vertices.properties.slice(0, axis).reduce((sum, { type }) => sum + bytesOfType(type), 0),
  );
  const stride = vertices.properties.reduce((sum, { type }) => sum + bytesOfType(type), 0);
  const isMoved = axes.every((axis) => vertices.properties[axis]?.type === 'double');
  if (!isMoved || vertices.properties.some(({ isList }) => isList) || vertices.count * stride > body.length)
    return;
  const at = (index: number, axis: number) => index * stride + (offsets[axis] ?? 0);
  const read = (from: number) => (isBig ? body.readDoubleBE(from) : body.readDoubleLE(from));
  const points = function* (): Generator<readonly [number, number, number]> {
    for (let index = 0; index < vertices.count; index += 1)
      yield [read(at(index, 0)), read(at(index, 1)), read(at(index, 2))];
  };
  const middle = middleIfFar(points());
  if (middle === null) return;
  for (let index = 0; index < vertices.count; index += 1) {
    for (const [axis, by] of middle.entries()) {
      const value = read(at(index, axis)) - by;
      if (isBig) body.writeDoubleBE(value, at(index, axis));
      else body.writeDoubleLE(value, at(index, axis));
    }
  }
}

function respellPly(bytes: Buffer): Uint8Array {
  const { header, bodyAt, format, elements } = readPlyHeader(bytes);
  const [vertices] = elements;
  if (format !== 'ascii') {
    const body = Buffer.from(bytes.subarray(bodyAt));
    if (vertices?.name === 'vertex') movePoints(body, vertices, format === 'binary_big_endian');
    return Buffer.concat([Buffer.from(header, 'latin1'), body]);
  }
  const lines = unix(bytes.toString('latin1', bodyAt))
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const isPlain =
    vertices?.name === 'vertex' &&
    ['x', 'y', 'z'].every((axis, index) => vertices.properties[index]?.name === axis);
  const points = isPlain ? lines.slice(0, vertices.count) : [];
  const near = nearOrigin(points.join('\n'), /^()([-+.\deE]+)[ \t]+([-+.\deE]+)[ \t]+([-+.\deE]+)/gm);
  return Buffer.from(
    `${header}${[...(near === '' ? [] : [near]), ...lines.slice(points.length)].join('\n')}\n`,
    'latin1',
  );
}

/** Returns a model in the spelling that Assimp reads. Throws BrokenFile if its header is damaged. */
export function respelled(bytes: Buffer, extension: 'obj' | 'stl' | 'ply' | 'fbx'): Uint8Array {
  if (extension === 'obj') return respellObj(bytes);
  if (extension === 'stl') return respellStl(bytes);
  return extension === 'ply' ? respellPly(bytes) : bytes;
}
