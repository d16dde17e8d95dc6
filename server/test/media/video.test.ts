import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { ffmpegOf } from '../../src/media/ffmpeg/choose.ts';
import { takeTiles } from '../../src/media/video/sprites.ts';
import { apertured, clip, dolbyVision, everyFfmpeg, mutated, turned } from './clips.ts';
import { colourAt, expectColour, extraOf, openStudio, pictureOf } from './still-kit.ts';

const h264 = { encoder: 'libx264' };
const film = { format: 'mp4', video: h264, audio: { encoder: 'aac' } };

/** The number of damaged copies that are tried with each FFmpeg; `npm run mutate` tries thousands. */
const DAMAGED = 2;

describe.for(everyFfmpeg)('with $name', ({ setting, isHere }) => {
  const studio = openStudio({ ffmpeg: setting });
  const posterOf = async (made: Awaited<ReturnType<typeof studio.decode>>) =>
    (await extraOf(made, 'poster')) ?? undefined;

  // MEDIA-3, MEDIA-14
  test.skipIf(!isHere)('a video gets a ladder, a poster, scrub previews and facts', async () => {
    const made = await studio.decode(await clip(film));
    expect(made.ladder).toMatchObject({ outcome: 'rendered', width: 320, height: 180 });
    expect(made.facts).toEqual({
      duration_seconds: expect.closeTo(2, 1),
      frame_rate: 25,
      exact_frame_rate: '25/1',
      has_video: true,
      has_sound: true,
      video_codec: 'h264',
      audio_codec: 'aac',
      hdr: false,
      poster_seconds: expect.any(Number),
    });
    expect(made.extras.map(({ key }) => key)).toEqual(['poster', 'sprites.jpg', 'sprites.vtt']);
    const cues = String(await extraOf(made, 'sprites.vtt'));
    expect(cues).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:01\.0\d\d\nsprites\.jpg#xywh=0,0,192,108\n/);
    expect(cues.trim().split('\n').at(-1)).toBe('sprites.jpg#xywh=192,0,192,108');
    const sheet = await sharp((await extraOf(made, 'sprites.jpg')) ?? undefined).metadata();
    expect([sheet.width, sheet.height]).toEqual([384, 108]);
  });

  // MEDIA-64
  test.skipIf(!isHere).each(['matroska', 'mp4'])(
    'a film at 23.976 frames a second in %s has the exact rate 24000/1001',
    async (format) => {
      const video = {
        source: 'testsrc2=s=64x36:r=24000/1001',
        encoder: 'libx264',
        rate: { num: 24_000, den: 1001 },
      };
      const { facts } = await studio.decode(await clip({ format, video }));
      expect(facts).toMatchObject({ frame_rate: 23.976, exact_frame_rate: '24000/1001' });
    },
  );

  // MEDIA-14
  test.skipIf(!isHere).each([
    ['every frame of a short video', 10, '250', undefined],
    ['the keyframes of a long video', 700, '5', undefined],
    ['a video that is too large to be read from beginning to end', 12, '2', 0],
  ])('scrub previews show their own moment, from %s', async (_, seconds, g, mostPassBytes) => {
    // Brightness grows from 0 to 200.
    const source = `color=black:s=64x36:r=${seconds > 100 ? 1 : 10},geq=lum='16+T*200/${seconds}':cb=128:cr=128`;
    const video = { source, encoder: 'libx264', options: { preset: 'ultrafast', g } };
    const { path } = await studio.place(await clip({ format: 'matroska', video, seconds }));
    const ffmpeg = await ffmpegOf(setting ?? undefined);
    const file = { path, mime: 'video/matroska' };
    const probe = await ffmpeg.probe(file);
    if (probe.video === null) throw new Error('no video');
    const limits = mostPassBytes === undefined ? {} : { mostPassBytes };
    const tiles = await takeTiles(ffmpeg, file, probe.video, seconds, limits);
    const count = Math.min(100, seconds);
    expect(tiles?.pixels).toHaveLength(count);
    for (const [index, pixels] of tiles?.pixels.entries() ?? [])
      expect(Math.abs((pixels[0] ?? 0) - ((index + 0.5) / count) * 200 * 1.164)).toBeLessThan(12);
  });

  test.skipIf(!isHere)('a rotated video is shown upright', async () => {
    const source = 'color=red:s=160x180:r=25[a];color=blue:s=160x180:r=25[b];[a][b]hstack,setsar=1';
    const made = await studio.decode(
      turned(await clip({ format: 'mp4', video: { source, ...h264 }, seconds: 1 })),
    );
    expect(made.ladder).toMatchObject({ outcome: 'rendered', width: 180, height: 320 });
    const poster = await posterOf(made);
    expectColour(await colourAt(poster, 0.5, 0.25), [255, 0, 0], 30);
    expectColour(await colourAt(poster, 0.5, 0.75), [0, 0, 255], 30);
  });

  // MEDIA-61
  test.skipIf(!isHere)('a video with a clean aperture is shown without its edges', async () => {
    const source = 'color=red:s=320x180:r=25,drawbox=x=40:y=30:w=240:h=120:color=blue:t=fill';
    const mp4 = await clip({ format: 'mp4', video: { source, ...h264 }, seconds: 0.4 });
    const made = await studio.decode(apertured(mp4, { width: 240, height: 120 }));
    expect(made.ladder).toMatchObject({ outcome: 'rendered', width: 240, height: 120 });
    const poster = await posterOf(made);
    for (const at of [0.03, 0.97]) expectColour(await colourAt(poster, at, at), [0, 0, 255], 30);
  });

  // MEDIA-61
  test.skipIf(!isHere)('a video with a left edge that H.264 crops is shown without it', async () => {
    const source = 'color=red:s=320x180:r=25,drawbox=x=6:y=0:w=314:h=180:color=blue:t=fill';
    const options = { 'x264-params': 'crop-rect=6,0,0,0' };
    const video = { source, encoder: 'libx264', pixels: 'yuv444p', options };
    const made = await studio.decode(await clip({ format: 'mp4', video, seconds: 0.4 }));
    expect(made.ladder).toMatchObject({ outcome: 'rendered', width: 314, height: 180 });
    expectColour(await colourAt(await posterOf(made), 0.006, 0.5), [0, 0, 255], 60);
  });

  // MEDIA-61
  test.skipIf(!isHere).each([
    ['VP8', { format: 'webm', encoder: 'libvpx', pixels: 'yuva420p', options: { 'auto-alt-ref': '0' } }],
    ['VP9', { format: 'webm', encoder: 'libvpx-vp9', pixels: 'yuva420p', options: {} }],
    ['ProRes 4444', { format: 'mov', encoder: 'prores_ks', pixels: 'yuva444p10le', options: {} }],
    ['QuickTime Animation', { format: 'mov', encoder: 'qtrle', pixels: 'argb', options: {} }],
  ])('the transparent parts of %s are white', async (_, { format, ...track }) => {
    const source =
      "color=black:s=320x180:r=5,format=yuva444p,geq=lum='if(lt(X,160),81,16)':cb='if(lt(X,160),90,128)':cr='if(lt(X,160),240,128)':a='if(lt(X,160),255,0)'";
    const made = await studio.decode(await clip({ format, video: { source, ...track }, seconds: 1 }));
    expect(made.ladder).toMatchObject({ outcome: 'rendered' });
    const pictures = [pictureOf(made).path, await posterOf(made), await extraOf(made, 'sprites.jpg')];
    for (const picture of pictures) {
      if (picture === undefined || picture === null) throw new Error('no picture');
      expectColour(await colourAt(picture, 0.25, 0.5), [255, 0, 0], 40);
      expectColour(await colourAt(picture, 0.75, 0.5), [255, 255, 255], 8);
    }
  });

  test.skipIf(!isHere)('a video with non-square pixels has its display size', async () => {
    const video = { source: 'testsrc2=s=160x180:r=5,setsar=2', encoder: 'libvpx' };
    const { ladder, facts } = await studio.decode(await clip({ format: 'webm', video, seconds: 1 }));
    expect(ladder).toMatchObject({ outcome: 'rendered', width: 320, height: 180 });
    expect(facts).toMatchObject({ has_sound: false, video_codec: 'vp8' });
  });

  test.skipIf(!isHere)('high dynamic range is tone-mapped to standard range', async () => {
    // Without tone mapping, the middle grey of a PQ signal would be far brighter.
    const options = {
      'x265-params': 'colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:log-level=none',
    };
    const video = { source: 'color=gray:s=320x180:r=25', encoder: 'libx265', pixels: 'yuv420p10le', options };
    const made = await studio.decode(await clip({ format: 'mp4', video, seconds: 0.4 }));
    expect(made.facts).toMatchObject({ hdr: true, video_codec: 'hevc' });
    const [red = 128] = await colourAt(await posterOf(made));
    expect(Math.abs(red - 128)).toBeGreaterThan(10);
  });

  // MEDIA-14
  // MEDIA-62. Each colour as IPT, made with the matrices of its definition, and as BT.2020 with PQ.
  test.skipIf(!isHere).each([
    ['white', [520, 511, 512], [509, 512, 512]],
    ['red', [411, 687, 615], [408, 483, 576]],
    ['blue', [425, 471, 392], [405, 563, 492]],
    ['green', [467, 398, 588], [470, 478, 469]],
  ] as const)(
    '%s in Dolby Vision without a compatible layer is the same as in HDR10',
    async (_, ipt, hdr10) => {
      const params = (more: string) => ({ 'x265-params': `log-level=none:${more}` });
      const filmOf = ([first, second, third]: readonly number[], options: Record<string, string>) =>
        clip({
          format: 'mp4',
          video: {
            source: `color=gray:s=64x64:r=25,format=yuv420p10le,geq=lum=${first}:cb=${second}:cr=${third}`,
            ...{ encoder: 'libx265', pixels: 'yuv420p10le', options },
          },
          seconds: 0.2,
        });
      const plain = params('colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc');
      const due = await posterOf(await studio.decode(await filmOf(hdr10, plain)));
      const made = await studio.decode(dolbyVision(await filmOf(ipt, params('range=full'))));
      expect(made.facts).toMatchObject({ hdr: true, video_codec: 'hevc' });
      expectColour(await colourAt(await posterOf(made)), await colourAt(due), 10);
    },
  );

  test.skipIf(!isHere)('a video file with only sound gets a waveform', async () => {
    const made = await studio.decode(
      await clip({ format: 'mp4', audio: { encoder: 'aac' }, seconds: 1 }),
      'video/mp4',
    );
    expect(made.ladder.outcome).toBe('rendered');
    expect(made.facts).toMatchObject({ has_video: false, has_sound: true, audio_codec: 'aac' });
    const { duration_seconds, peaks } = JSON.parse(String(await extraOf(made, 'waveform.json')));
    expect(duration_seconds).toBeCloseTo(1, 0);
    expect(peaks.length).toBeGreaterThan(15);
    // The amplitude of the source is 1/8.
    expect(peaks.toSorted()[Math.floor(peaks.length / 2)]).toBeCloseTo(0.125, 1);
  });

  test.skipIf(!isHere)('a transport stream without an index has scrub previews', async () => {
    const { extras } = await studio.decode(await clip({ format: 'mpegts', video: h264 }));
    expect(extras.map(({ key }) => key)).toContain('sprites.vtt');
  });

  test.skipIf(!isHere)('an undecodable video fails with a reason', async () => {
    const plain = Buffer.from(await clip(film));
    const noFrames = Buffer.from(plain);
    noFrames.fill(0, plain.indexOf('mdat') + 4, plain.indexOf('moov') - 4);
    for (const bytes of [plain.subarray(0, 20_000), noFrames])
      expect(await studio.outcomeOf(bytes)).toMatch(/^broken: \w+ \w+/);
  });

  // MEDIA-17
  test.skipIf(!isHere).each([
    ['a playlist', '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nSECRET\n#EXT-X-ENDLIST\n'],
    ['a list of files', 'ffconcat version 1.0\nfile SECRET\n'],
  ])('%s declared as a video opens no other file', async (_, text) => {
    const secret = `${(await studio.place(Buffer.alloc(0))).path}.mp4`;
    await writeFile(secret, await clip(film));
    const bytes = Buffer.from(text.replace('SECRET', secret));
    for (const mime of ['video/mp4', 'video/mp2t', 'video/matroska'])
      expect(await studio.outcomeOf(bytes, mime)).toMatch(/^broken: /);
  });

  test.skipIf(!isHere)('damaged files are rendered or refused, never an internal error', async () => {
    const mp4 = await clip({ format: 'mp4', video: h264, seconds: 1 });
    const webm = await clip({
      format: 'webm',
      video: { source: 'testsrc2=s=160x90:r=5', encoder: 'libvpx' },
      seconds: 1,
    });
    for (let seed = 1; seed <= DAMAGED; seed += 1) {
      const [mime, bytes] = seed % 2 === 0 ? (['video/mp4', mp4] as const) : (['video/webm', webm] as const);
      const outcome = await studio.outcomeOf(mutated(bytes, seed), mime);
      expect(outcome, `seed ${seed}`).toMatch(/^(?:rendered$|broken: |unsupported: |stopped: )/);
    }
  });
});
