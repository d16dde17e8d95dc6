import { WebIO } from '@gltf-transform/core';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { openGlb, surfacesOf } from '../../src/media/models/gltf.ts';
import { glb, gltf, obj, packedGlb, ply, stl, torus } from './models.ts';
import { colourAt, extraOf, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();

/** Returns the number of triangles of a model. */
async function trianglesOf(model: Buffer): Promise<number> {
  const surfaces = await surfacesOf(await openGlb(model));
  return surfaces.reduce((sum, { triangles }) => sum + (triangles?.length ?? 0) / 3, 0);
}

// MEDIA-21
describe('a 3D model', () => {
  test.each([
    ['GLB', 'model/gltf-binary', () => glb(), false],
    ['glTF with its data inside', 'model/gltf+json', () => gltf(), true],
    ['OBJ', 'model/obj', () => obj(), true],
    ['STL', 'model/stl', () => stl(), true],
    ['PLY', 'model/ply', () => ply(), true],
  ] as const)('is rendered as a picture and converted to GLB: %s', async (_, mime, make, isConverted) => {
    const rendering = await studio.render(make(), mime);
    const { path, width, height } = pictureOf(rendering);
    expect([width, height]).toEqual([1600, 1200]);
    // The torus is lighter at the top than at the bottom, and transparent outside.
    const [above, below] = [await colourAt(path, 0.2, 0.46), await colourAt(path, 0.5, 0.79)];
    if (mime.startsWith('model/gltf')) {
      // Has the colour of its material.
      const [red = 0, green = 255, blue = 255] = above;
      expect([red > 180, green < 90, blue < 90]).toEqual([true, true, true]);
    }
    if (mime !== 'model/stl') expect(above[0]).toBeGreaterThan((below[0] ?? 255) + 40);
    expect((await sharp(path).stats()).channels[1]?.stdev).toBeGreaterThan(15);
    expect((await colourAt(path, 0.02, 0.02)).every((part) => part > 180)).toBe(true);
    const model = await extraOf(rendering, 'model.glb');
    expect(model !== null).toBe(isConverted);
    if (model !== null) expect(await trianglesOf(model)).toBe(2304);
  });

  // MEDIA-17
  test.each([
    ['it names a file', gltf('file:///etc/passwd'), 'the model keeps its geometry in other files'],
    ['it names an address', gltf('http://127.0.0.1:1/a.bin'), 'the model keeps its geometry in other files'],
    [
      'its compression is unknown',
      gltf(undefined, { extensionsRequired: ['KHR_meshopt_compression'] }),
      'the model is compressed (KHR_meshopt_compression)',
    ],
    [
      'a few bytes stand for too many triangles',
      glb({ nodes: 3000 }),
      'the model has more than 5000000 triangles',
    ],
    ['it has no faces', glb({ mesh: { corners: torus().corners, faces: [] } }), 'the model has no surfaces'],
  ])('gives the reason when it is not rendered because %s', async (_, bytes, reason) => {
    expect((await studio.render(bytes)).ladder).toMatchObject({ outcome: 'unsupported', reason });
  });

  test.each(['draco', 'meshopt'] as const)(
    'compressed by %s is rendered, and unpacked for viewers',
    async (how) => {
      const rendering = await studio.render(await packedGlb(how), 'model/gltf-binary');
      expect(await colourAt(pictureOf(rendering).path, 0.5, 0.75)).not.toEqual([0, 0, 0]);
      const unpacked = (await extraOf(rendering, 'model.glb')) ?? Buffer.alloc(0);
      const { json } = await new WebIO().binaryToJSON(unpacked);
      expect(json.extensionsRequired ?? []).toEqual([]);
      expect(await trianglesOf(unpacked)).toBe(2304);
    },
  );

  test.each([
    ['GLB', 'model/gltf-binary', glb().slice(0, 3000)],
    ['FBX', 'model/vnd.fbx', new TextEncoder().encode('Kaydara FBX Binary  \0\u001a\0 nothing more')],
  ])('is a damaged file when it is truncated: %s', async (_, mime, bytes) => {
    expect((await studio.render(bytes, mime)).ladder.outcome).toBe('broken');
  });
});
