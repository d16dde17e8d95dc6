import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { completed } from '../../src/media/colour/video.ts';
import { ffmpegOf } from '../../src/media/ffmpeg/choose.ts';
import { saySentence } from '../../src/platform/language/sentence.ts';
import { type Clip, clip, everyFfmpeg } from './clips.ts';
import { colourAt, expectColour, extraOf, openStudio } from './still-kit.ts';

/** The colour 200, 60, 40 in a matrix, range and pixel format. */
function filled(size: string, matrix: string, range = 'tv') {
  return {
    source: `color=0xC83C28:s=${size}:r=10`,
    filter: `format=gbrp,scale=out_color_matrix=${matrix}:out_range=${range}`,
  };
}
const due = [200, 60, 40];
const x264 = { encoder: 'libx264', options: { preset: 'ultrafast', qp: '4' } };
const tagged = (colorspace: string, others: Record<string, string> = {}) => ({
  ...x264,
  options: { ...x264.options, colorspace, ...others },
});

// MEDIA-45
describe('the colours of a video without a description', () => {
  const nothing = { primaries: 2, transfer: 2, matrix: 2 };
  test.each([
    ['1920x1080', { width: 1920, height: 1080 }, 1],
    ['1280x534', { width: 1280, height: 534 }, 1],
    ['720x1280', { width: 720, height: 1280 }, 1],
    ['720x576', { width: 720, height: 576 }, 6],
    ['640x480', { width: 640, height: 480 }, 6],
  ])('of %s are those of its definition', (_, size, matrix) => {
    expect(completed(nothing, size).matrix).toBe(matrix);
  });

  test('follow from what it does describe', () => {
    const sd = { width: 640, height: 480 };
    expect(completed({ ...nothing, primaries: 9 }, sd).matrix).toBe(9);
    expect(completed({ ...nothing, transfer: 16 }, sd)).toEqual({ primaries: 9, transfer: 16, matrix: 9 });
    expect(completed({ ...nothing, primaries: 1 }, sd).matrix).toBe(1);
    expect(completed({ ...nothing, matrix: 6 }, { width: 1920, height: 1080 }).matrix).toBe(6);
  });
});

describe.for(everyFfmpeg)('with $name', ({ setting, isHere }) => {
  const studio = openStudio({ ffmpeg: setting });

  /** Returns the path and the streams of the rendition with this key. */
  async function streamOf(bytes: Uint8Array, key = 'hls/360p.mp4') {
    const made = await studio.transcode(bytes);
    if (made.outcome !== 'done') throw new Error(saySentence('en', made.reason));
    const path = made.renditions.find((one) => one.key === key)?.path ?? '';
    const source = { path, mime: 'video/mp4' };
    const ffmpeg = await ffmpegOf(setting ?? undefined);
    const probe = await ffmpeg.probe(source);
    return { ffmpeg, source, ...probe, durationSeconds: probe.durationSeconds ?? 0 };
  }

  const posterColour = async (bytes: Uint8Array) => {
    const made = await studio.decode(bytes);
    return colourAt((await extraOf(made, 'poster')) ?? undefined);
  };

  /** Returns the colour of a pixel of the streams, as a player shows it. */
  async function streamColour(bytes: Uint8Array) {
    const { ffmpeg, source, video } = await streamOf(bytes);
    if (video === null) throw new Error('no video');
    expect(video.colour).toEqual({ primaries: 1, transfer: 1, matrix: 1 });
    const filter = 'scale=16:16:in_color_matrix=bt709,setsar=1,format=rgb24';
    const shape = { width: 16, height: 16 };
    const pixels = await ffmpeg.frame(source, video, { atSeconds: 0, filter, exact: true, ...shape });
    return [...(pixels ?? []).slice(0, 3)];
  }

  // MEDIA-45
  test.skipIf(!isHere).each<[string, Clip]>([
    ['HD without tags', { format: 'mp4', video: { ...x264, ...filled('128x720', 'bt709') } }],
    ['SD without tags', { format: 'mp4', video: { ...x264, ...filled('64x480', 'bt601') } }],
    [
      'HD in MPEG-2',
      {
        format: 'mpeg',
        video: { encoder: 'mpeg2video', options: { b: '8M' }, ...filled('128x720', 'bt709') },
      },
    ],
    [
      'HD in AVI',
      { format: 'avi', video: { encoder: 'mpeg4', options: { b: '8M' }, ...filled('128x720', 'bt709') } },
    ],
    ['HD in Matroska', { format: 'matroska', video: { ...x264, ...filled('128x720', 'bt709') } }],
    ['SD in a transport stream', { format: 'mpegts', video: { ...x264, ...filled('72x576', 'bt601') } }],
    [
      'HD tagged as BT.601',
      { format: 'mp4', video: { ...tagged('smpte170m'), ...filled('128x720', 'bt601') } },
    ],
    ['SD tagged as BT.709', { format: 'mp4', video: { ...tagged('bt709'), ...filled('64x480', 'bt709') } }],
    [
      'SD tagged as SMPTE 240M',
      { format: 'mp4', video: { ...tagged('smpte240m'), ...filled('64x480', 'smpte240m') } },
    ],
    [
      'the full range',
      {
        format: 'mp4',
        video: { ...tagged('bt709', { color_range: 'pc' }), ...filled('128x720', 'bt709', 'pc') },
      },
    ],
    [
      'RGB',
      {
        format: 'mp4',
        video: {
          encoder: 'libx264rgb',
          pixels: 'rgb24',
          options: x264.options,
          source: filled('128x720', '').source,
        },
      },
    ],
  ])('the colours of %s are shown as players do', async (_, of) => {
    const bytes = await clip({ ...of, seconds: 0.5 });
    expectColour(await posterColour(bytes), due, 6);
    expectColour(await streamColour(bytes), due, 6);
  });

  // MEDIA-45
  test.skipIf(!isHere)('colours outside BT.709 are converted', async () => {
    // The primaries of BT.2020 contain more than those of BT.709.
    const video = {
      ...tagged('bt2020nc', { color_primaries: 'bt2020', color_trc: 'bt2020-10' }),
      source: 'color=0x965A3C:s=320x180:r=10',
      filter: 'format=gbrp,scale=out_color_matrix=bt2020:out_range=tv',
    };
    const bytes = await clip({ format: 'mp4', video, seconds: 0.5 });
    const found = await posterColour(bytes);
    expectColour(found, [177, 78, 51], 6);
    expectColour(await streamColour(bytes), found, 6);
  });

  /** Returns the pitch of the sound of a rendition, in Hz. */
  async function pitchOf(bytes: Uint8Array, key?: string): Promise<number> {
    const { ffmpeg, source, audio } = await streamOf(bytes, key);
    if (audio === null) return 0;
    const chunks = await Array.fromAsync(ffmpeg.samples(source, audio));
    const samples = Buffer.concat(chunks);
    // One second from the middle, at 8,000 Hz.
    let rises = 0;
    for (let at = 4000; at < 12_000; at += 1) {
      if (samples.readInt16LE(at * 2) < 0 && samples.readInt16LE(at * 2 + 2) >= 0) rises += 1;
    }
    return rises;
  }

  const tone = (hertz: number, isDefault: boolean, encoder = 'aac') => ({
    encoder,
    source: `sine=f=${hertz}:r=48000`,
    isDefault,
  });
  const small = { ...x264, source: 'color=gray:s=64x64:r=10', isDefault: true };

  // MEDIA-46
  test.skipIf(!isHere).each<[string, Clip, string?]>([
    ['a Matroska film', { format: 'matroska', tracks: [small, tone(440, false), tone(1760, true)] }],
    ['an MP4 film', { format: 'mp4', tracks: [small, tone(440, false), tone(1760, true)] }],
    [
      'a Matroska film whose tracks are all marked',
      { format: 'matroska', tracks: [small, tone(1760, true), tone(440, true)] },
    ],
    [
      'a film without a marked track',
      { format: 'mpegts', tracks: [small, tone(1760, false, 'mp2'), tone(440, false, 'mp2')] },
    ],
    [
      'a sound',
      { format: 'matroska', tracks: [tone(440, false, 'pcm_s16le'), tone(1760, true, 'pcm_s16le')] },
      'audio.m4a',
    ],
  ])('the sound of %s is the one that players choose', async (_, of, key) => {
    expect(Math.abs((await pitchOf(await clip({ ...of, seconds: 1.6 }), key)) - 1760)).toBeLessThan(20);
  });

  const green = (others: object = {}) => ({ ...x264, source: 'color=green:s=320x180:r=25', ...others });
  const still = (encoder: string, pixels: string, others: object = {}) => ({
    encoder,
    pixels,
    source: 'color=red:s=80x60:r=25',
    seconds: 0.04,
    ...others,
  });

  // MEDIA-46
  test.skipIf(!isHere).each<[string, Clip]>([
    [
      'JPEG',
      {
        format: 'matroska',
        tracks: [still('mjpeg', 'yuvj420p', { isDefault: false }), green({ isDefault: true })],
      },
    ],
    [
      'JPEG that is marked as default',
      {
        format: 'matroska',
        tracks: [still('mjpeg', 'yuvj420p', { isDefault: true }), green({ isDefault: false })],
      },
    ],
    ['PNG', { format: 'mov', tracks: [still('png', 'rgb24'), green()] }],
    ['one H.264 frame', { format: 'matroska', tracks: [still('libx264', 'yuv420p'), green()] }],
    ['one H.264 frame in MP4', { format: 'mp4', tracks: [still('libx264', 'yuv420p'), green()] }],
  ])('a still of %s before the film is not taken for it', async (_, of) => {
    const bytes = await clip({ ...of, seconds: 2 });
    const made = await studio.decode(bytes);
    expect(made.ladder).toMatchObject({ outcome: 'rendered', width: 320, height: 180 });
    expectColour(await colourAt((await extraOf(made, 'poster')) ?? undefined), [0, 128, 0], 8);
    expect((await streamOf(bytes)).video).toMatchObject({ width: 320, height: 180 });
  });

  test.skipIf(!isHere)('Motion JPEG is a film', async () => {
    const video = { encoder: 'mjpeg', pixels: 'yuvj420p', ...filled('320x180', 'bt601', 'pc') };
    const bytes = await clip({ format: 'avi', video, audio: { encoder: 'pcm_s16le' }, seconds: 1 });
    const made = await studio.decode(bytes);
    expect(made.facts).toMatchObject({ has_video: true, video_codec: 'mjpeg' });
    expectColour(await posterColour(bytes), due, 8);
  });

  // MEDIA-47
  test.skipIf(!isHere).each([
    // 20 frames in the first 0.8 s, then one every 0.12 s.
    ['mp4', 25, 20],
    ['matroska', 25, 20],
    ['mov', 25, 20],
  ])('no frame of a variable rate is dropped in %s', async (format, rate, count) => {
    const source = `testsrc2=s=160x120:r=${rate},select='lt(n,${count})+not(mod(n,3))'`;
    const bytes = await clip({ format, video: { ...x264, source }, seconds: 3 });
    const { ffmpeg, source: made, video, durationSeconds } = await streamOf(bytes);
    if (video === null) throw new Error('no video');
    const shape = { width: 16, height: 12 };
    const different = new Set<string>();
    const filter = 'scale=16:12,setsar=1,format=rgb24';
    const signal = AbortSignal.timeout(20_000);
    const request = { count, interval: 1 / rate, filter, exact: true, signal, ...shape };
    for await (const pixels of ffmpeg.frames(made, video, request)) different.add(pixels.toString('hex'));
    expect(different.size).toBeGreaterThanOrEqual(count - 1);
    expect(durationSeconds).toBeCloseTo(3, 0);
  });
});

// MEDIA-45
test.each([
  ['with the filter that converts all colours', '.. zscale V->V', true],
  ['without it', '.. scale V->V', false],
])('an FFmpeg of the system %s is used: %s', async (_, filter, isUsed) => {
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-ffmpeg-'));
  const script = `#!/bin/sh\ncase "$*" in *-encoders*) echo ' V libx264 '; echo ' A aac ';; *) echo ' ${filter}'; echo ' .. ofthesystem V->V';; esac\n`;
  for (const name of ['ffmpeg', 'ffprobe']) await writeFile(join(directory, name), script, { mode: 0o755 });
  try {
    const chosen = await ffmpegOf(join(directory, 'ffmpeg'));
    expect(await chosen.hasFilter('ofthesystem')).toBe(isUsed);
    expect(await chosen.hasFilter('zscale')).toBe(true);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
