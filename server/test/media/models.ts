import { WebIO } from '@gltf-transform/core';
import { EXTMeshoptCompression, KHRDracoMeshCompression } from '@gltf-transform/extensions';
import draco from 'draco3dgltf';
import { MeshoptEncoder } from 'meshoptimizer';
import { type Bytes, fileOf, numbers } from './binary.ts';

/** Models for tests, built by hand. */

interface Mesh {
  /** Coordinates of vertices. */
  corners: readonly (readonly [number, number, number])[];
  faces: readonly (readonly [number, number, number])[];
}

/** A torus with this many steps around and along its tube; flat faces, no normals. */
export function torus(around = 48, along = 24): Mesh {
  const corners = Array.from({ length: around * along }, (_, index): [number, number, number] => {
    const [u, v] = [
      (Math.floor(index / along) / around) * 2 * Math.PI,
      ((index % along) / along) * 2 * Math.PI,
    ];
    const radius = 1 + 0.4 * Math.cos(v);
    return [radius * Math.cos(u), 0.4 * Math.sin(v), radius * Math.sin(u)];
  });
  const faces = Array.from({ length: around * along }, (_, index) => {
    const [ring, step] = [Math.floor(index / along), index % along];
    const next = ((ring + 1) % around) * along;
    const [a, b] = [ring * along + step, ring * along + ((step + 1) % along)];
    const [c, d] = [next + step, next + ((step + 1) % along)];
    return [[a, b, c] as const, [b, d, c] as const];
  }).flat();
  return { corners, faces };
}

export function obj({ corners, faces }: Mesh = torus()): Bytes {
  const lines = [
    ...corners.map((corner) => `v ${corner.join(' ')}`),
    ...faces.map((face) => `f ${face.map((corner) => corner + 1).join(' ')}`),
  ];
  return new TextEncoder().encode(`${lines.join('\n')}\n`);
}

export function stl({ corners, faces }: Mesh = torus()): Bytes {
  const bytes = Buffer.alloc(84 + faces.length * 50);
  bytes.writeUInt32LE(faces.length, 80);
  for (const [index, face] of faces.entries()) {
    for (const [place, corner] of face.entries()) {
      for (const [axis, value] of (corners[corner] ?? []).entries()) {
        bytes.writeFloatLE(value, 84 + index * 50 + 12 + place * 12 + axis * 4);
      }
    }
  }
  return Uint8Array.from(bytes);
}

export function ply({ corners, faces }: Mesh = torus()): Bytes {
  const head = `ply\nformat ascii 1.0\nelement vertex ${corners.length}\nproperty float x\nproperty float y\nproperty float z\nelement face ${faces.length}\nproperty list uchar int vertex_indices\nend_header\n`;
  const rows = [...corners.map((corner) => corner.join(' ')), ...faces.map((face) => `3 ${face.join(' ')}`)];
  return new TextEncoder().encode(`${head}${rows.join('\n')}\n`);
}

/** The JSON of a glTF with one mesh in this (linear) colour, and its buffer. */
function gltfParts({ corners, faces }: Mesh, colour: readonly number[]) {
  const positions = Buffer.from(Float32Array.from(corners.flat()).buffer);
  const indices = Buffer.from(Uint32Array.from(faces.flat()).buffer);
  const buffer = Buffer.concat([positions, indices]);
  const axis = (index: number) => corners.map((corner) => corner[index] ?? 0);
  const json = {
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1, material: 0 }] }],
    materials: [{ pbrMetallicRoughness: { baseColorFactor: [...colour, 1] } }],
    accessors: [
      {
        bufferView: 0,
        componentType: 5126,
        count: corners.length,
        type: 'VEC3',
        min: [0, 1, 2].map((index) => Math.min(...axis(index))),
        max: [0, 1, 2].map((index) => Math.max(...axis(index))),
      },
      { bufferView: 1, componentType: 5125, count: faces.length * 3, type: 'SCALAR' },
    ],
    bufferViews: [
      { buffer: 0, byteOffset: 0, byteLength: positions.length },
      { buffer: 0, byteOffset: positions.length, byteLength: indices.length },
    ],
    buffers: [{ byteLength: buffer.length }],
  };
  return { json, buffer };
}

/** A glTF whose buffer is at `uri` or embedded. */
export function gltf(uri?: string, more: object = {}): Bytes {
  const { json, buffer } = gltfParts(torus(), [0.8, 0.1, 0.1]);
  const data = uri ?? `data:application/octet-stream;base64,${buffer.toString('base64')}`;
  const whole = { ...json, ...more, buffers: [{ byteLength: buffer.length, uri: data }] };
  return new TextEncoder().encode(JSON.stringify(whole));
}

/** A red torus, or with `nodes` the same torus in many places. */
export function glb({ nodes = 1, mesh = torus() } = {}): Bytes {
  const { json, buffer } = gltfParts(mesh, [0.8, 0.05, 0.05]);
  const places = Array.from({ length: nodes }, (_, at) => ({ mesh: 0, translation: [at * 3, 0, 0] }));
  const whole = { ...json, nodes: places, scenes: [{ nodes: places.map((_, at) => at) }] };
  const text = JSON.stringify(whole);
  const padded = Buffer.from(text.padEnd(Math.ceil(text.length / 4) * 4));
  const head = numbers('iii', 2, 28 + padded.length + buffer.length, padded.length);
  return fileOf('glTF', head, 'JSON', padded, numbers('i', buffer.length), 'BIN\0', buffer);
}

/** The red torus, compressed with Draco or meshopt. */
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
