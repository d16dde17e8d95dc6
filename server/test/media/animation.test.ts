import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Decoders, openDecoders } from '../../src/media/decoding/decoders.ts';
import { defaultLadder } from '../../src/media/ladder.ts';
import { sniff } from '../../src/media/sniff.ts';
import { clip, everyFfmpeg } from './clips.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Starting programs takes long on a busy machine. */
const TIMEOUT_MS = 60_000;

let directory: string;
let count = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-animation-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function render(decoders: Decoders, bytes: Bytes) {
  count += 1;
  const path = join(directory, `picture-${count}`);
  await writeFile(path, bytes);
  const outDir = await mkdtemp(join(directory, 'out-'));
  const input = { path, mime: (await sniff(path)).mime, rungs: defaultLadder, outDir };
  const { ladder, facts } = await decoders.run('picture', 'mara', 'ladder', input);
  return { mime: input.mime, ladder, facts };
}

/** A GIF with frames of one pixel each. */
function gifOf(frames: number): Bytes {
  const header = Buffer.from('47494638396110001000800000000000ffffff', 'hex');
  const frame = Buffer.from('21f90400000000002c0000000001000100000202440100', 'hex');
  return Uint8Array.from(
    Buffer.concat([header, ...Array.from({ length: frames }, () => frame), Buffer.from('3b', 'hex')]),
  );
}

describe('animated pictures', { timeout: TIMEOUT_MS }, () => {
  const decoders = openDecoders({ ffmpeg: 'off' });
  afterAll(() => decoders.close());

  // MEDIA-25
  test.each([
    ['gif', 'gif', 'bgr8', 'image/gif'],
    ['apng', 'apng', 'rgb24', 'image/apng'],
    ['webp', 'libwebp_anim', 'yuv420p', 'image/webp'],
  ])('%s says so, and shows its first frame', async (format, encoder, pixels, type) => {
    const bytes = await clip({ format, video: { encoder, pixels }, seconds: 0.4 });
    const { mime, ladder, facts } = await render(decoders, bytes);
    expect(mime).toBe(type);
    expect(ladder).toMatchObject({ outcome: 'rendered', width: 320, height: 180 });
    expect(facts).toEqual({ animated: true });
  });

  test('a GIF with one frame is no animation, and one with 100,000 frames is not decoded in full', async () => {
    expect((await render(decoders, gifOf(1))).facts).toEqual({});
    const { ladder, facts } = await render(decoders, gifOf(100_000));
    expect(ladder.outcome).toBe('rendered');
    expect(facts).toEqual({ animated: true });
  });
});

describe.for(everyFfmpeg)('with $name', { timeout: TIMEOUT_MS }, ({ setting, isHere }) => {
  // MEDIA-25
  test.skipIf(!isHere)('an animated AVIF is reported and shows its first frame', async () => {
    const decoders = openDecoders({ ffmpeg: setting });
    try {
      const options = { preset: '10' };
      const bytes = await clip({ format: 'avif', video: { encoder: 'libsvtav1', options }, seconds: 0.4 });
      const { mime, ladder, facts } = await render(decoders, bytes);
      expect(mime).toBe('image/avif');
      expect(ladder).toMatchObject({ outcome: 'rendered', width: 320, height: 180 });
      expect(facts).toEqual({ animated: true });
    } finally {
      await decoders.close();
    }
  });
});
