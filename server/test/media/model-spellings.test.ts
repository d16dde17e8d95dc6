import { describe, expect, test } from 'vitest';
import { toGlb } from '../../src/media/models/convert.ts';
import { openGlb, surfacesOf } from '../../src/media/models/gltf.ts';
import { respelled } from '../../src/media/models/spelling.ts';
import { sniff } from '../../src/media/sniff.ts';
import { fileOf, numbers } from './binary.ts';
import { openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();

type Point = readonly [number, number, number];

/** A tetrahedron with edges of about 2. */
const corners: readonly Point[] = [
  [-1, -1, -1],
  [1, 1, -1],
  [1, -1, 1],
  [-1, 1, 1],
];
const faces: readonly Point[] = [
  [0, 1, 2],
  [0, 3, 1],
  [0, 2, 3],
  [1, 3, 2],
];
/** A corner as in coordinates of a national grid. */
const away = ([x, y, z]: Point): Point => [x + 4_500_000, y + 500_000, z];

const objOf = (points = corners, base = 1) =>
  [
    ...points.map((point) => `v ${point.join(' ')}`),
    ...faces.map((face) => `f ${face.map((at) => at + base).join(' ')}`),
    '',
  ].join('\n');

const stlOf = (points = corners) => {
  const vertex = (at: number) => `vertex ${points[at]?.join(' ')}`;
  const facets = faces.map((face) =>
    ['facet normal 0 0 0', 'outer loop', ...face.map(vertex), 'endloop', 'endfacet'].join('\n'),
  );
  return ['solid x', ...facets, 'endsolid x', ''].join('\n');
};

function binaryStl(header: string): Uint8Array {
  const head = Buffer.alloc(84);
  head.write(header);
  head.writeUInt32LE(faces.length, 80);
  const facets = faces.map((face) => {
    const facet = Buffer.alloc(50);
    for (const [place, at] of face.entries())
      for (const [axis, value] of (corners[at] ?? []).entries())
        facet.writeFloatLE(value, 12 + place * 12 + axis * 4);
    return facet;
  });
  return fileOf(head, ...facets);
}

interface PlyOptions {
  points?: readonly Point[];
  before?: string;
  type?: string;
  count?: string;
  index?: string;
  format?: string;
}

function plyHead({
  before = '',
  type = 'float',
  count = 'uchar',
  index = 'int',
  format = 'ascii',
}: PlyOptions): string {
  return [
    'ply',
    `${before}format ${format} 1.0`,
    `element vertex ${corners.length}`,
    ...['x', 'y', 'z'].map((axis) => `property ${type} ${axis}`),
    `element face ${faces.length}`,
    `property list ${count} ${index} vertex_index`,
    'end_header',
    '',
  ].join('\n');
}

const plyOf = (options: PlyOptions = {}) =>
  `${plyHead(options)}${[...(options.points ?? corners).map((point) => point.join(' ')), ...faces.map((face) => `3 ${face.join(' ')}`), ''].join('\n')}`;

function binaryPly(isBig: boolean): Uint8Array {
  const points = Buffer.alloc(corners.length * 24);
  for (const [at, corner] of corners.entries())
    for (const [axis, value] of away(corner).entries()) {
      if (isBig) points.writeDoubleBE(value, at * 24 + axis * 8);
      else points.writeDoubleLE(value, at * 24 + axis * 8);
    }
  const lists = faces.map((face) => numbers(isBig ? 'BIII' : 'Biii', 3, ...face));
  const format = isBig ? 'binary_big_endian' : 'binary_little_endian';
  return fileOf(plyHead({ type: 'double', format }), points, ...lists);
}

const kinds = { 'model/obj': 'obj', 'model/stl': 'stl', 'model/ply': 'ply' } as const;

/** Returns the number of triangles and the largest extent of a model. */
async function measured(bytes: Uint8Array): Promise<{ mime: string; triangles: number; size: number }> {
  const { path } = await studio.place(bytes);
  const { mime } = await sniff(path);
  const extension = Object.entries(kinds).find(([type]) => type === mime)?.[1];
  if (extension === undefined) return { mime, triangles: 0, size: 0 };
  const surfaces = await surfacesOf(
    await openGlb(await toGlb(respelled(Buffer.from(bytes), extension), extension)),
  );
  const values = surfaces.flatMap(({ positions }) => [...positions]);
  const triangles = surfaces.reduce((sum, { triangles }) => sum + (triangles?.length ?? 0) / 3, 0);
  return { mime, triangles, size: Math.max(...values) - Math.min(...values) };
}

const cr = (text: string) => text.replaceAll('\n', '\r');
const crlf = (text: string) => text.replaceAll('\n', '\r\n');

// MEDIA-37
describe('a model is recognised and read in every valid spelling', () => {
  test.each<[string, keyof typeof kinds, string | Uint8Array]>([
    ['OBJ with long comments', 'model/obj', `${`# ${'x'.repeat(200)}\n`.repeat(60)}${objOf()}`],
    ['OBJ with names that are empty', 'model/obj', `o\ng\ns off\n${objOf()}`],
    ['OBJ with lines that continue', 'model/obj', objOf().replace(/^f (\d) /gm, 'f $1 \\\n ')],
    ['OBJ with negative indices', 'model/obj', objOf(corners, -corners.length)],
    ['OBJ with CR', 'model/obj', cr(objOf())],
    ['OBJ with tabs', 'model/obj', objOf().replaceAll(' ', '\t')],
    ['OBJ with exponents', 'model/obj', objOf().replaceAll('v 1 ', 'v 1.0E+0 ')],
    ['OBJ far away', 'model/obj', objOf(corners.map(away))],
    ['STL in capitals', 'model/stl', stlOf().toUpperCase()],
    [
      'STL in mixed case',
      'model/stl',
      stlOf().replaceAll('facet normal', 'Facet Normal').replace('solid', 'Solid'),
    ],
    ['STL without a name', 'model/stl', stlOf().replace('solid x', 'solid')],
    ['STL after white space', 'model/stl', `\n  ${stlOf()}`],
    ['STL with a colour', 'model/stl', stlOf().replace('solid x\n', 'solid x\ncolor 0.1 0.2 0.3\n')],
    ['STL with CRLF', 'model/stl', crlf(stlOf())],
    ['STL far away', 'model/stl', stlOf(corners.map(away))],
    ['binary STL that starts like a text', 'model/stl', binaryStl('solid but binary')],
    ['binary STL with bytes after its end', 'model/stl', fileOf(binaryStl('solid but binary'), '\0\0')],
    ['PLY with a comment first', 'model/ply', plyOf({ before: 'comment made first\n' })],
    ['PLY with information first', 'model/ply', plyOf({ before: 'obj_info made by a scanner\n' })],
    ['PLY with sized types', 'model/ply', plyOf({ type: 'float32', count: 'uint8', index: 'int32' })],
    ['PLY with doubles', 'model/ply', plyOf({ type: 'float64' })],
    ['PLY with CRLF', 'model/ply', crlf(plyOf({ before: 'comment first\n' }))],
    ['PLY with CR', 'model/ply', cr(plyOf())],
    ['PLY with more white space', 'model/ply', plyOf().replaceAll(' ', '   ')],
    ['PLY far away', 'model/ply', plyOf({ type: 'double', points: corners.map(away) })],
    ['binary PLY far away', 'model/ply', binaryPly(false)],
    ['binary PLY, big endian', 'model/ply', binaryPly(true)],
  ])('%s', async (_, mime, file) => {
    const found = await measured(fileOf(file));
    expect(found).toMatchObject({ mime, triangles: faces.length });
    expect(found.size).toBeCloseTo(2, 3);
  });

  test('and is drawn', async () => {
    const rendering = await studio.render(fileOf(stlOf().toUpperCase()));
    expect(pictureOf(rendering)).toMatchObject({ width: 1600, height: 1200 });
  });

  test('but texts that only start like one stay texts', async () => {
    for (const text of ['solid ground\nand more\n', 'ply\nis a word\n', 'v 1 2 3\nand then prose\n'])
      expect(await measured(fileOf(text))).toMatchObject({ mime: 'text/plain' });
  });
});
