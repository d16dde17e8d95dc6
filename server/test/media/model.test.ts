import { WebIO } from '@gltf-transform/core';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { toGlb } from '../../src/media/models/convert.ts';
import { openGlb, openGltf, surfacesOf, unpack, writeGlb } from '../../src/media/models/gltf.ts';
import { saySentence } from '../../src/platform/language/sentence.ts';
import { glb, gltf, obj, packedGlb, ply, stl, torus } from './models.ts';
import { colourAt, extraOf, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();

// MEDIA-21
describe('a 3D model', () => {
  test.each([
    ['GLB', 'model/gltf-binary', () => glb()],
    ['STL', 'model/stl', () => stl()],
  ] as const)('is rendered as a picture: %s', async (_, mime, make) => {
    const rendering = await studio.render(make(), mime);
    const { path, width, height } = pictureOf(rendering);
    expect([width, height]).toEqual([1600, 1200]);
    const isConverted = mime === 'model/stl';
    expect((await extraOf(rendering, 'model.glb')) !== null).toBe(isConverted);
    // The torus is transparent outside.
    expect((await colourAt(path, 0.02, 0.02)).every((part) => part > 180)).toBe(true);
    expect((await sharp(path).stats()).channels[1]?.stdev).toBeGreaterThan(15);
    if (isConverted) return;
    // Has the colour of its material, and is lighter at the top than at the bottom.
    const [[red = 0, green = 255, blue = 255], below] = [
      await colourAt(path, 0.2, 0.46),
      await colourAt(path, 0.5, 0.79),
    ];
    expect([red > 180, green < 90, blue < 90]).toEqual([true, true, true]);
    expect(red).toBeGreaterThan((below[0] ?? 255) + 40);
  });

  // corpus.test.ts draws a model of each format.
  test.each([
    ['glTF with its data inside', async () => openGltf(new TextDecoder().decode(gltf()))],
    ['OBJ', async () => openGlb(await toGlb(obj(), 'obj'))],
    ['PLY', async () => openGlb(await toGlb(ply(), 'ply'))],
    ['GLB compressed by Draco', async () => openGlb(await packedGlb('draco'))],
    ['GLB compressed by meshopt', async () => openGlb(await packedGlb('meshopt'))],
  ])('is converted for viewers to a GLB without extensions: %s', async (_, open) => {
    const document = await open();
    unpack(document);
    const model = await writeGlb(document);
    const { json } = await new WebIO().binaryToJSON(model);
    expect(json.extensionsRequired ?? []).toEqual([]);
    const surfaces = await surfacesOf(await openGlb(model));
    expect(surfaces.reduce((sum, { triangles }) => sum + (triangles?.length ?? 0) / 3, 0)).toBe(2304);
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
      'the model has more than 5,000,000 triangles',
    ],
    ['it has no faces', glb({ mesh: { corners: torus().corners, faces: [] } }), 'the model has no surfaces'],
  ])('gives the reason when it is not rendered because %s', async (_, bytes, reason) => {
    const { ladder } = await studio.render(bytes);
    if (ladder.outcome !== 'unsupported') throw new Error(ladder.outcome);
    expect(saySentence('en', ladder.reason)).toBe(reason);
  });

  test.each([
    ['GLB', 'model/gltf-binary', glb().slice(0, 3000)],
    ['FBX', 'model/vnd.fbx', new TextEncoder().encode('Kaydara FBX Binary  \0\u001a\0 nothing more')],
  ])('is a damaged file when it is truncated: %s', async (_, mime, bytes) => {
    expect((await studio.render(bytes, mime)).ladder.outcome).toBe('broken');
  });
});
