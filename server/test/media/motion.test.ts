import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { openLibrary, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type Bytes, box, fileOf } from './binary.ts';
import { clip } from './clips.ts';
import { extraOf, openStudio } from './still-kit.ts';

const studio = openStudio({ ffmpeg: 'off' });
const library = await openLibrary({ VITRINE_FFMPEG: 'off' });
const [owner, other] = await library.joinAll('owner', 'other');
const film = () => clip({ format: 'mp4', video: { encoder: 'libx264' }, seconds: 1 });
const heic = async () => readFile(new URL('files/halves.heic', import.meta.url));

// MEDIA-49
describe('a photograph with a film', () => {
  test.each<[string, () => Promise<Bytes>]>([
    ['after a JPEG', async () => fileOf(await jpeg(64, 48), await film())],
    [
      'between a JPEG and a trailer',
      async () => fileOf(await jpeg(64, 48), 'MotionPhoto_Data', await film(), '\0\0SEFT'),
    ],
    ['in a box of a HEIC', async () => fileOf(await heic(), box('mpvd', await film()))],
    ['after a HEIC', async () => fileOf(await heic(), await film())],
  ])('has it as a rendition and as streams: %s', async (_, make) => {
    const bytes = await make();
    const made = await studio.decode(bytes);
    expect(made.ladder.outcome).toBe('rendered');
    expect(made.facts).toMatchObject({ motion: true });
    expect(Buffer.compare((await extraOf(made, 'motion.mp4')) ?? Buffer.alloc(0), await film())).toBe(0);
    const transcoded = await studio.transcode(bytes);
    expect(transcoded).toMatchObject({ outcome: 'done' });
  });

  test.each<[string, () => Promise<Bytes>]>([
    ['nothing else', async () => fileOf(await jpeg(64, 48))],
    [
      'the name of a box only',
      async () => fileOf(await jpeg(64, 48), '\0\0\0\x20ftypisom', new Uint8Array(100)),
    ],
    ['a film that is cut off', async () => fileOf(await jpeg(64, 48), (await film()).slice(0, 500))],
  ])('is a plain picture with %s', async (_, make) => {
    const made = await studio.decode(await make());
    expect(made.ladder.outcome).toBe('rendered');
    expect(made.facts).toEqual({});
    expect(made.extras).toEqual([]);
  });

  test('is offered with it to those who may get the file', async () => {
    const photo = await upload(owner, fileOf(await jpeg(64, 48), await film()), {
      sensitivity: 'restricted',
    });
    await library.runJobs();
    const { kind, facts, variants } = await owner.ok('getAssetMedia', { params: { id: photo.id } });
    expect([kind, facts]).toEqual(['image', { motion: true }]);
    const keys = variants.map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(['col', 'motion.mp4', 'hls/master.m3u8']));
    const sent = await owner.send(`/assets/${photo.id}/variants/motion.mp4`);
    expect([sent.status, sent.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    expect(await other.status('GET', `/assets/${photo.id}/variants/motion.mp4`)).toBe(404);
  });
});
