import { WebIO } from '@gltf-transform/core';
import { EXTMeshoptCompression, KHRDracoMeshCompression } from '@gltf-transform/extensions';
import draco from 'draco3dgltf';
import { MeshoptEncoder } from 'meshoptimizer';

type Bytes = Uint8Array<ArrayBuffer>;

/** A torus: 3 numbers for each point, 3 indices for each triangle. */
function torus(rings: number, sides: number) {
  const points: number[] = [];
  const triangles: number[] = [];
  for (let ring = 0; ring < rings; ring += 1) {
    for (let side = 0; side < sides; side += 1) {
      const [around, across] = [(ring / rings) * 2 * Math.PI, (side / sides) * 2 * Math.PI];
      const radius = 1 + 0.4 * Math.cos(across);
      points.push(radius * Math.cos(around), 0.4 * Math.sin(across), radius * Math.sin(around));
      const at = (r: number, s: number) => (r % rings) * sides + (s % sides);
      const [a, b, c, d] = [at(ring, side), at(ring, side + 1), at(ring + 1, side), at(ring + 1, side + 1)];
      triangles.push(a, b, c, b, d, c);
    }
  }
  return { points, triangles };
}

const { points, triangles } = torus(48, 24);
const corners = (of: readonly number[], at: number) => of.slice(at * 3, at * 3 + 3);
const text = (lines: readonly string[]): Bytes => new TextEncoder().encode(`${lines.join('\n')}\n`);
const pointRows = Array.from({ length: points.length / 3 }, (_, n) => corners(points, n));
const triangleRows = Array.from({ length: triangles.length / 3 }, (_, n) => corners(triangles, n));

export function obj(): Bytes {
  return text([
    ...pointRows.map((point) => `v ${point.map((value) => value.toFixed(4)).join(' ')}`),
    ...triangleRows.map((triangle) => `f ${triangle.map((index) => index + 1).join(' ')}`),
  ]);
}

export function ply(): Bytes {
  return text([
    'ply',
    'format ascii 1.0',
    `element vertex ${pointRows.length}`,
    'property float x',
    'property float y',
    'property float z',
    `element face ${triangleRows.length}`,
    'property list uchar int vertex_indices',
    'end_header',
    ...pointRows.map((point) => point.map((value) => value.toFixed(4)).join(' ')),
    ...triangleRows.map((triangle) => `3 ${triangle.join(' ')}`),
  ]);
}

/** Binary STL, which has no signature. */
export function stl(): Bytes {
  const bytes = Buffer.alloc(84 + triangleRows.length * 50);
  bytes.writeUInt32LE(triangleRows.length, 80);
  for (const [place, triangle] of triangleRows.entries()) {
    const values = triangle.flatMap((index) => pointRows[index] ?? []);
    for (const [n, value] of values.entries()) bytes.writeFloatLE(value, 84 + place * 50 + 12 + n * 4);
  }
  return Uint8Array.from(bytes);
}

function gltfParts() {
  const positions = Buffer.from(Float32Array.from(points).buffer);
  const indices = Buffer.from(Uint16Array.from(triangles).buffer);
  const bytes = Buffer.concat([positions, indices]);
  const document = {
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1, material: 0 }] }],
    materials: [{ pbrMetallicRoughness: { baseColorFactor: [0.75, 0.2, 0.15, 1], metallicFactor: 0.1 } }],
    accessors: [
      {
        bufferView: 0,
        componentType: 5126,
        count: pointRows.length,
        type: 'VEC3',
        min: [-1.4, -0.4, -1.4],
        max: [1.4, 0.4, 1.4],
      },
      { bufferView: 1, componentType: 5123, count: triangles.length, type: 'SCALAR' },
    ],
    bufferViews: [
      { buffer: 0, byteOffset: 0, byteLength: positions.length },
      { buffer: 0, byteOffset: positions.length, byteLength: indices.length },
    ],
  };
  return { document, bytes };
}

/** glTF with an embedded buffer. */
export function gltf(): Bytes {
  const { document, bytes } = gltfParts();
  const uri = `data:application/octet-stream;base64,${bytes.toString('base64')}`;
  return text([JSON.stringify({ ...document, buffers: [{ byteLength: bytes.length, uri }] })]);
}

export function glb(): Bytes {
  const { document, bytes } = gltfParts();
  const json = JSON.stringify({ ...document, buffers: [{ byteLength: bytes.length }] });
  const head = Buffer.from(json.padEnd(Math.ceil(json.length / 4) * 4));
  const body = Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
  const words = (...values: number[]) => Buffer.from(Uint32Array.from(values).buffer);
  const total = 12 + 8 + head.length + 8 + body.length;
  return Uint8Array.from(
    Buffer.concat([
      words(0x46546c67, 2, total),
      words(head.length, 0x4e4f534a),
      head,
      words(body.length, 0x004e4942),
      body,
    ]),
  );
}

/** The same torus, compressed with Draco or meshopt. */
export async function packedGlb(how: 'draco' | 'meshopt'): Promise<Bytes> {
  await MeshoptEncoder.ready;
  const io = new WebIO()
    .registerExtensions([KHRDracoMeshCompression, EXTMeshoptCompression])
    .registerDependencies({
      'draco3d.encoder': await draco.createEncoderModule(),
      'meshopt.encoder': MeshoptEncoder,
    });
  const document = await io.readBinary(glb());
  if (how === 'draco') document.createExtension(KHRDracoMeshCompression).setRequired(true);
  else document.createExtension(EXTMeshoptCompression).setRequired(true);
  return Uint8Array.from(await io.writeBinary(document));
}
