import {
  type Document,
  type Texture as GltfTexture,
  type JSONDocument,
  Logger,
  Primitive,
  Verbosity,
  WebIO,
} from '@gltf-transform/core';
import {
  EXTMeshoptCompression,
  KHRDracoMeshCompression,
  KHRMeshQuantization,
} from '@gltf-transform/extensions';
import draco from 'draco3dgltf';
import { MeshoptDecoder } from 'meshoptimizer';
import { sentence } from '../../platform/language/sentence.ts';
import { NotDrawable } from '../still.ts';
import { sharp } from '../tuned-sharp.ts';
import type { Surface, Texture } from './surface.ts';

/** Maximum number of triangles and points; each use of a mesh counts. */
const MOST_ELEMENTS = 5_000_000;
/** The colour of models that have none. */
const PLAIN = [0.62, 0.62, 0.64] as const;
/** Textures are shrunk to this edge; those with more pixels than the limit are left out. */
const TEXTURE_EDGE = 1024;
const MOST_TEXELS = 100_000_000;
const MOST_TEXTURES = 64;

/**
 * Extensions for compressed geometry, which is decompressed here because viewers in browsers may not run the
 * WebAssembly that does it.
 */
const packed = [KHRDracoMeshCompression, EXTMeshoptCompression];
const packedNames: readonly string[] = packed.map((extension) => extension.EXTENSION_NAME);

/** Returns a reader and writer of glTF. Loads decoders only for a model that needs them. */
async function reader(json?: JSONDocument['json']): Promise<WebIO> {
  const io = new WebIO()
    .setLogger(new Logger(Verbosity.SILENT))
    .registerExtensions([...packed, KHRMeshQuantization]);
  const uses = (name: string) => json?.extensionsUsed?.includes(name) === true;
  if (uses(KHRDracoMeshCompression.EXTENSION_NAME)) {
    io.registerDependencies({ 'draco3d.decoder': await draco.createDecoderModule() });
  }
  if (uses(EXTMeshoptCompression.EXTENSION_NAME)) {
    await MeshoptDecoder.ready;
    io.registerDependencies({ 'meshopt.decoder': MeshoptDecoder });
  }
  return io;
}

/** Removes the compression from a document; returns whether it was compressed. */
export function unpack(document: Document): boolean {
  const root = document.getRoot();
  const found = root.listExtensionsUsed().filter(({ extensionName }) => packedNames.includes(extensionName));
  for (const extension of found) extension.dispose();
  // A GLB has one buffer; meshopt uses a second one.
  const [buffer, ...others] = found.length > 0 ? root.listBuffers() : [];
  if (buffer !== undefined) for (const accessor of root.listAccessors()) accessor.setBuffer(buffer);
  for (const other of others) other.dispose();
  return found.length > 0;
}

/**
 * Refuses models whose geometry is in other files and replaces external textures with a blank one, so that no file or
 * address is read.
 */
function withoutReferences({ json, resources }: JSONDocument): JSONDocument {
  const lacking = json.buffers?.some(
    ({ uri }) => uri !== undefined && !uri.startsWith('data:') && !(uri in resources),
  );
  if (lacking === true) throw new NotDrawable(sentence('the model keeps its geometry in other files'));
  // The reader does not have a decoder for it yet.
  const unknown = json.extensionsRequired?.find((name) => name === 'KHR_meshopt_compression');
  if (unknown !== undefined)
    throw new NotDrawable(sentence('the model is compressed ({name})', { name: unknown }));
  const blank =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/x8AAwMCAO+/p9sAAAAASUVORK5CYII=';
  const images = json.images?.map((image) =>
    image.uri !== undefined && !image.uri.startsWith('data:') && !(image.uri in resources)
      ? { ...image, uri: blank }
      : image,
  );
  // Clears the required extensions, so that unsupported ones, which only refine the look of materials, are ignored.
  return {
    json: { ...json, extensionsRequired: [], ...(images === undefined ? {} : { images }) },
    resources,
  };
}

/** Opens a GLB. Throws NotDrawable if its geometry is in other files or uses an unsupported compression. */
export async function openGlb(bytes: Uint8Array): Promise<Document> {
  const read = await (await reader()).binaryToJSON(bytes);
  return (await reader(read.json)).readJSON(withoutReferences(read));
}

/** Opens the text of a glTF with embedded buffers. */
export async function openGltf(text: string): Promise<Document> {
  // The reader validates the document and throws for anything but glTF.
  const json = JSON.parse(text) as JSONDocument['json'];
  return (await reader(json)).readJSON(withoutReferences({ json, resources: {} }));
}

/** Returns a document as GLB. */
export async function writeGlb(document: Document): Promise<Uint8Array> {
  return (await reader()).writeBinary(document);
}

async function decoded(texture: GltfTexture): Promise<Texture | null> {
  const image = texture.getImage();
  if (image === null) return null;
  try {
    const { data, info } = await sharp(image, { limitInputPixels: MOST_TEXELS })
      .resize(TEXTURE_EDGE, TEXTURE_EDGE, { fit: 'inside', withoutEnlargement: true })
      .toColourspace('srgb')
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { width: info.width, height: info.height, pixels: data };
  } catch {
    // A model without its texture is still worth a picture.
    return null;
  }
}

/** Returns the corners of triangles, three each, from a list, a strip or a fan. */
function trianglesOf(mode: number, corners: Uint32Array): Uint32Array | null {
  if (mode === Primitive.Mode.TRIANGLES) return corners.subarray(0, corners.length - (corners.length % 3));
  if (mode !== Primitive.Mode.TRIANGLE_STRIP && mode !== Primitive.Mode.TRIANGLE_FAN) return null;
  const result = new Uint32Array(Math.max(0, corners.length - 2) * 3);
  for (let at = 0; at + 2 < corners.length; at += 1) {
    const first = mode === Primitive.Mode.TRIANGLE_FAN ? corners[0] : corners[at];
    result.set([first ?? 0, corners[at + 1] ?? 0, corners[at + 2] ?? 0], at * 3);
  }
  return result;
}

type Matrix = readonly number[];

/** Transforms positions, or directions with `w` 0, by a column-major matrix. */
function moved(values: Float32Array, m: Matrix, w: 0 | 1): Float32Array {
  const result = new Float32Array(values.length);
  for (let at = 0; at + 2 < values.length; at += 3) {
    const [x = 0, y = 0, z = 0] = [values[at], values[at + 1], values[at + 2]];
    for (let row = 0; row < 3; row += 1) {
      result[at + row] =
        (m[row] ?? 0) * x + (m[4 + row] ?? 0) * y + (m[8 + row] ?? 0) * z + w * (m[12 + row] ?? 0);
    }
  }
  return result;
}

/** Returns the numbers of an attribute, `size` per corner, independent of their stored type. */
function numbersOf(primitive: Primitive, name: string, size: number): Float32Array | null {
  const accessor = primitive.getAttribute(name);
  if (accessor === null || accessor.getElementSize() < size) return null;
  const result = new Float32Array(accessor.getCount() * size);
  const element: number[] = [];
  for (let index = 0; index < accessor.getCount(); index += 1) {
    accessor.getElement(index, element);
    for (let part = 0; part < size; part += 1) result[index * size + part] = element[part] ?? 0;
  }
  return result;
}

/** Returns all surfaces of the default scene, or of the first. Throws NotDrawable if they exceed the limit. */
export async function surfacesOf(document: Document): Promise<Surface[]> {
  const root = document.getRoot();
  const scene = root.getDefaultScene() ?? root.listScenes()[0];
  if (scene === undefined) return [];
  const placed: { primitive: Primitive; matrix: Matrix }[] = [];
  let elements = 0;
  scene.traverse((node) => {
    const matrix = node.getWorldMatrix();
    for (const primitive of node.getMesh()?.listPrimitives() ?? []) {
      const corners =
        primitive.getIndices()?.getCount() ?? primitive.getAttribute('POSITION')?.getCount() ?? 0;
      elements += corners / (primitive.getMode() === Primitive.Mode.TRIANGLES ? 3 : 1);
      if (elements > MOST_ELEMENTS)
        throw new NotDrawable(
          sentence('the model has more than {count} triangles', { count: MOST_ELEMENTS }),
        );
      placed.push({ primitive, matrix });
    }
  });
  const textures = new Map<GltfTexture, Texture | null>();
  const surfaces: Surface[] = [];
  for (const { primitive, matrix } of placed) {
    const local = numbersOf(primitive, 'POSITION', 3);
    if (local === null) continue;
    const material = primitive.getMaterial();
    const [red, green, blue, alpha] = material?.getBaseColorFactor() ?? [...PLAIN, 1];
    // Skips almost transparent surfaces, which would hide what is behind them.
    if (material?.getAlphaMode() === 'BLEND' && alpha < 0.15) continue;
    const image = material?.getBaseColorTexture() ?? null;
    if (image !== null && !textures.has(image) && textures.size < MOST_TEXTURES) {
      textures.set(image, await decoded(image));
    }
    const indices = primitive.getIndices()?.getArray();
    const corners =
      indices === undefined || indices === null
        ? Uint32Array.from({ length: local.length / 3 }, (_, corner) => corner)
        : Uint32Array.from(indices);
    const isPoints = primitive.getMode() === Primitive.Mode.POINTS;
    const triangles = isPoints ? null : trianglesOf(primitive.getMode(), corners);
    if (triangles === null && !isPoints) continue;
    const normals = numbersOf(primitive, 'NORMAL', 3);
    const colours = numbersOf(primitive, 'COLOR_0', 3);
    // Replaces plain white, the default of most files without materials, because shading would not be visible on it.
    const isPlain = image === null && colours === null && Math.min(red, green, blue) > 0.9;
    surfaces.push({
      positions: moved(local, matrix, 1),
      normals: normals === null ? null : moved(normals, matrix, 0),
      colours,
      uvs: numbersOf(primitive, `TEXCOORD_${material?.getBaseColorTextureInfo()?.getTexCoord() ?? 0}`, 2),
      triangles,
      base: isPlain ? PLAIN : [red, green, blue],
      texture: image === null ? null : (textures.get(image) ?? null),
    });
  }
  return surfaces;
}
