import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Document } from '@gltf-transform/core';
import { sentence } from '../../platform/language/sentence.ts';
import { toGlb } from '../models/convert.ts';
import { openGlb, openGltf, surfacesOf, unpack, writeGlb } from '../models/gltf.ts';
import { drawSurfaces } from '../models/rasteriser.ts';
import { respelled } from '../models/spelling.ts';
import type { Surface } from '../models/surface.ts';
import {
  asFileFault,
  type MadeRendition,
  NotDrawable,
  type Still,
  type StillMaker,
  tooLarge,
} from '../still.ts';
import { sharp } from '../tuned-sharp.ts';

/** A larger file has no previews. */
const MOST_BYTES = 256 * 1024 ** 2;

const SHAPE = { width: 1600, height: 1200 };
/** Supersampling factor: the picture is drawn larger and then shrunk, to smooth edges. */
const OVERSAMPLING = 2;
/** A neutral grey on which both light and dark models are visible. */
const BACKGROUND =
  '<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="1200"><radialGradient id="g" cy="45%" r="75%"><stop offset="0" stop-color="#f4f5f7"/><stop offset="1" stop-color="#c9ced6"/></radialGradient><rect width="1600" height="1200" fill="url(#g)"/></svg>';

/** Formats that Assimp converts, and whether their z axis points up. */
const converted = new Map([
  ['model/obj', { extension: 'obj', isZUp: false }],
  ['model/stl', { extension: 'stl', isZUp: true }],
  ['model/ply', { extension: 'ply', isZUp: false }],
  ['model/vnd.fbx', { extension: 'fbx', isZUp: false }],
] as const);

/** Converts coordinates with z up to coordinates with y up. */
function upright(values: Float32Array): Float32Array {
  const result = new Float32Array(values.length);
  for (let at = 0; at + 2 < values.length; at += 3) {
    result[at] = values[at] ?? 0;
    result[at + 1] = values[at + 2] ?? 0;
    result[at + 2] = -(values[at + 1] ?? 0);
  }
  return result;
}

async function drawModel(surfaces: readonly Surface[], outDir: string): Promise<Still['picture']> {
  const large = { width: SHAPE.width * OVERSAMPLING, height: SHAPE.height * OVERSAMPLING };
  const pixels = drawSurfaces(surfaces, large);
  if (pixels === null) throw new NotDrawable(sentence('the model has no surfaces'));
  const model = await sharp(pixels, { raw: { ...large, channels: 4 } })
    .resize(SHAPE.width, SHAPE.height, { kernel: 'mitchell' })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const path = join(outDir, 'model.png');
  const picture = await sharp(Buffer.from(BACKGROUND))
    .composite([{ input: model }])
    .removeAlpha()
    .png({ compressionLevel: 1 })
    .toBuffer();
  await writeFile(path, picture);
  return { path, mime: 'image/png' };
}

async function keepGlb(glb: Uint8Array, outDir: string): Promise<MadeRendition> {
  const path = join(outDir, 'model.glb');
  await writeFile(path, glb);
  return { key: 'model.glb', path, contentType: 'model/gltf-binary', sizeBytes: glb.length };
}

interface Opened {
  document: Document;
  /** The model for the viewer, unless the original can be shown directly. */
  glb: Uint8Array | null;
  isZUp: boolean;
}

async function openModel(bytes: Buffer, mime: string): Promise<Opened> {
  if (mime === 'model/gltf-binary') {
    const document = await openGlb(bytes);
    return { document, glb: unpack(document) ? await writeGlb(document) : null, isZUp: false };
  }
  if (mime === 'model/gltf+json') {
    const document = await openGltf(bytes.toString('utf8'));
    unpack(document);
    return { document, glb: await writeGlb(document), isZUp: false };
  }
  const format = [...converted].find(([type]) => type === mime)?.[1];
  if (format === undefined) throw new NotDrawable(sentence('{mime} is not rendered', { mime }));
  const glb = await toGlb(respelled(bytes, format.extension), format.extension);
  return { document: await openGlb(glb), glb, isZUp: format.isZUp };
}

/**
 * Draws a picture of a 3D model without a GPU, and writes the model as `model.glb` unless the original is an
 * uncompressed GLB. Does not read files that the model refers to. Throws NotDrawable for a model that is too large or
 * has no surfaces, and BrokenFile for a damaged one.
 */
export const modelStill: StillMaker = async ({ path, mime }, outDir) => {
  const { size } = await stat(path);
  if (size > MOST_BYTES) throw tooLarge(size);
  const bytes = await readFile(path);
  return asFileFault(sentence('the model is damaged'), async () => {
    const { document, glb, isZUp } = await openModel(bytes, mime);
    const surfaces = await surfacesOf(document);
    const shown = isZUp
      ? surfaces.map((surface) => ({
          ...surface,
          positions: upright(surface.positions),
          normals: surface.normals === null ? null : upright(surface.normals),
        }))
      : surfaces;
    const picture = await drawModel(shown, outDir);
    return { picture, extras: glb === null ? [] : [await keepGlb(glb, outDir)] };
  });
};
