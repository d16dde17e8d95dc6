import { describe, expect, test } from 'vitest';
import { manyFrames } from './bombs.ts';
import { clip, everyFfmpeg } from './clips.ts';
import { openStudio } from './still-kit.ts';

const rendered = { outcome: 'rendered', width: 320, height: 180 };

// MEDIA-25
describe('an animated picture', () => {
  const studio = openStudio({ ffmpeg: 'off' });

  test.each([
    ['gif', 'gif', 'bgr8', 'image/gif'],
    ['apng', 'apng', 'rgb24', 'image/apng'],
    ['webp', 'libwebp_anim', 'yuv420p', 'image/webp'],
  ])('of the format %s says so, and shows its first frame', async (format, encoder, pixels, mime) => {
    const bytes = await clip({ format, video: { encoder, pixels }, seconds: 0.2 });
    expect(await studio.decode(bytes)).toMatchObject({ mime, ladder: rendered, facts: { animated: true } });
  });

  test('is not reported for a single frame', async () => {
    expect((await studio.decode(manyFrames(1))).facts).toEqual({});
  });
});

describe.for(everyFfmpeg)('with $name', ({ setting, isHere }) => {
  const studio = openStudio({ ffmpeg: setting });

  // MEDIA-25
  test.skipIf(!isHere)('an animated AVIF says so, and shows its first frame', async () => {
    const video = { encoder: 'libsvtav1', options: { preset: '10' } };
    const made = await studio.decode(await clip({ format: 'avif', video, seconds: 0.2 }));
    expect(made).toMatchObject({ mime: 'image/avif', ladder: rendered, facts: { animated: true } });
  });
});
