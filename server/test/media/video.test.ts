import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Decoders, openDecoders } from '../../src/media/decoding/decoders.ts';
import { DecodingStopped } from '../../src/media/decoding/process.ts';
import { ffmpegOf } from '../../src/media/ffmpeg/ffmpeg.ts';
import { defaultLadder } from '../../src/media/ladder.ts';
import { sniff } from '../../src/media/sniff.ts';
import { takeTiles } from '../../src/media/video/sprites.ts';
import { arrive } from '../posts/people.ts';
import { type Account, type Library, objectPath, openLibrary, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { clip, everyFfmpeg, mutated, turned } from './clips.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Starting programs takes long on a busy machine. */
const TIMEOUT_MS = 120_000;

let directory: string;
let count = 0;
let plain: Bytes;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-video-'));
  plain = await clip({ format: 'mp4', video: { encoder: 'libx264' }, audio: { encoder: 'aac' } });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function render(decoders: Decoders, bytes: Bytes, as?: string, rungs = defaultLadder) {
  count += 1;
  const path = join(directory, `clip-${count}`);
  await writeFile(path, bytes);
  const outDir = await mkdtemp(join(directory, 'out-'));
  const input = { path, mime: as ?? (await sniff(path)).mime, rungs, outDir };
  const rendering = await decoders.run('video', 'mara', 'ladder', input);
  const extra = async (key: string) => {
    const found = rendering.extras.find((file) => file.key === key);
    return found === undefined ? null : readFile(found.path);
  };
  return { ...rendering, extra };
}

/** Returns the average colour of a part of a picture. */
async function colour(picture: Buffer | null, part: 'top' | 'bottom') {
  const { width, height } = await sharp(picture ?? Buffer.alloc(0)).metadata();
  const half = Math.floor(height / 2);
  const region = { left: 0, top: part === 'top' ? 0 : half, width, height: half };
  const { channels } = await sharp(
    await sharp(picture ?? Buffer.alloc(0))
      .extract(region)
      .toBuffer(),
  ).stats();
  return channels.map(({ mean }) => Math.round(mean));
}

describe.for(everyFfmpeg)('with $name', { timeout: TIMEOUT_MS }, ({ setting, isHere }) => {
  let decoders: Decoders;
  beforeAll(() => {
    decoders = openDecoders({ ffmpeg: setting });
  });
  afterAll(() => decoders.close());

  // MEDIA-3, MEDIA-14
  test.skipIf(!isHere)('a video gets a ladder, a poster, scrub previews and facts', async () => {
    const { ladder, facts, extras, extra } = await render(decoders, plain);
    expect(ladder).toMatchObject({ outcome: 'rendered', width: 320, height: 180 });
    expect(facts).toEqual({
      duration_seconds: expect.closeTo(2, 1),
      frame_rate: 25,
      has_video: true,
      has_sound: true,
      video_codec: 'h264',
      audio_codec: 'aac',
      hdr: false,
      poster_seconds: expect.any(Number),
    });
    expect(extras.map(({ key }) => key)).toEqual(['poster', 'sprites.jpg', 'sprites.vtt']);
    const cues = String(await extra('sprites.vtt'));
    expect(cues).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:01\.0\d\d\nsprites\.jpg#xywh=0,0,192,108\n/);
    expect(cues.trim().split('\n').at(-1)).toBe('sprites.jpg#xywh=192,0,192,108');
    const sheet = await sharp((await extra('sprites.jpg')) ?? undefined).metadata();
    expect([sheet.width, sheet.height]).toEqual([384, 108]);
  });

  // MEDIA-14
  test.skipIf(!isHere).each([
    ['every frame of a short video', 10, '250', undefined],
    ['the keyframes of a long video', 700, '5', undefined],
    ['a video that is too large to be read from beginning to end', 12, '2', 0],
  ])('scrub previews show their own moment, from %s', async (_, seconds, g, mostPassBytes) => {
    // Brightness grows from 0 to 200.
    const source = `color=black:s=64x36:r=${seconds > 100 ? 2 : 10},geq=lum='16+T*200/${seconds}':cb=128:cr=128`;
    const video = { source, encoder: 'libx264', options: { preset: 'ultrafast', g } };
    const path = join(directory, `brightness-${seconds}.mkv`);
    await writeFile(path, await clip({ format: 'matroska', video, seconds }));
    const ffmpeg = await ffmpegOf(setting ?? undefined);
    const file = { path, mime: 'video/matroska' };
    const probe = await ffmpeg.probe(file);
    if (probe.video === null) throw new Error('no video');
    const tiles = await takeTiles(ffmpeg, file, probe.video, seconds, {
      ...(mostPassBytes === undefined ? {} : { mostPassBytes }),
    });
    const count = Math.min(100, seconds);
    expect(tiles?.pixels).toHaveLength(count);
    for (const [index, pixels] of tiles?.pixels.entries() ?? [])
      expect(Math.abs((pixels[0] ?? 0) - ((index + 0.5) / count) * 200 * 1.164)).toBeLessThan(12);
  });

  test.skipIf(!isHere)('a rotated video is shown upright', async () => {
    const source = 'color=red:s=160x180:r=25[a];color=blue:s=160x180:r=25[b];[a][b]hstack,setsar=1';
    const bytes = turned(await clip({ format: 'mp4', video: { source, encoder: 'libx264' }, seconds: 1 }));
    const { ladder, extra } = await render(decoders, bytes);
    expect(ladder).toMatchObject({ outcome: 'rendered', width: 180, height: 320 });
    for (const [part, shown] of [
      ['top', [255, 0, 0]],
      ['bottom', [0, 0, 255]],
    ] as const) {
      const mean = await colour(await extra('poster'), part);
      for (const [index, value] of shown.entries())
        expect(Math.abs((mean[index] ?? 0) - value)).toBeLessThan(30);
    }
  });

  test.skipIf(!isHere)('a video with non-square pixels has its display size', async () => {
    const source = 'testsrc2=s=160x180:r=25,setsar=2';
    const bytes = await clip({ format: 'webm', video: { source, encoder: 'libvpx' }, seconds: 1 });
    const { ladder, facts } = await render(decoders, bytes);
    expect(ladder).toMatchObject({ outcome: 'rendered', width: 320, height: 180 });
    expect(facts).toMatchObject({ has_sound: false, video_codec: 'vp8' });
  });

  test.skipIf(!isHere)('high dynamic range is tone-mapped to standard range', async () => {
    // Without tone mapping, the middle grey of a PQ signal would be far brighter.
    const options = {
      'x265-params': 'colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:log-level=none',
    };
    const video = { source: 'color=gray:s=320x180:r=25', encoder: 'libx265', pixels: 'yuv420p10le', options };
    const { facts, extra } = await render(decoders, await clip({ format: 'mp4', video, seconds: 1 }));
    expect(facts).toMatchObject({ hdr: true, video_codec: 'hevc' });
    const [red = 0] = await colour(await extra('poster'), 'top');
    expect(Math.abs(red - 128)).toBeGreaterThan(10);
  });

  // MEDIA-14
  test.skipIf(!isHere)('a video file with only sound gets a waveform', async () => {
    const bytes = await clip({ format: 'mp4', audio: { encoder: 'aac' }, seconds: 1 });
    const { ladder, facts, extra } = await render(decoders, bytes, 'video/mp4');
    expect(ladder.outcome).toBe('rendered');
    expect(facts).toMatchObject({ has_video: false, has_sound: true, audio_codec: 'aac' });
    const { duration_seconds, peaks } = JSON.parse(String(await extra('waveform.json')));
    expect(duration_seconds).toBeCloseTo(1, 0);
    expect(peaks.length).toBeGreaterThan(15);
    // The amplitude of the source is 1/8.
    expect(peaks.toSorted()[Math.floor(peaks.length / 2)]).toBeCloseTo(0.125, 1);
  });

  test.skipIf(!isHere)('a transport stream without an index has scrub previews', async () => {
    const bytes = await clip({ format: 'mpegts', video: { encoder: 'libx264' } });
    const { extras } = await render(decoders, bytes);
    expect(extras.map(({ key }) => key)).toContain('sprites.vtt');
  });

  test.skipIf(!isHere)('an undecodable video fails with a reason', async () => {
    const cut = await render(decoders, plain.slice(0, 20_000));
    expect(cut.ladder).toMatchObject({ outcome: 'broken', reason: expect.stringMatching(/\w+ \w+/) });
    const header = Buffer.from(plain).indexOf('mdat');
    const noFrames = Uint8Array.from(plain);
    noFrames.fill(0, header + 4, Buffer.from(plain).indexOf('moov') - 4);
    expect((await render(decoders, noFrames)).ladder).toMatchObject({ outcome: 'broken' });
  });

  // MEDIA-17
  test.skipIf(!isHere).each([
    ['a playlist', '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nSECRET\n#EXT-X-ENDLIST\n'],
    ['a list of files', 'ffconcat version 1.0\nfile SECRET\n'],
  ])('%s declared as a video opens no other file', async (_, text) => {
    const secret = join(directory, 'secret.mp4');
    await writeFile(secret, plain);
    const bytes = new TextEncoder().encode(text.replace('SECRET', secret));
    for (const mime of ['video/mp4', 'video/mp2t', 'video/matroska']) {
      expect((await render(decoders, bytes, mime)).ladder.outcome).toBe('broken');
    }
  });

  test.skipIf(!isHere)('damaged files are rendered or refused, never an internal error', async () => {
    // Each file starts several programs, which do little work.
    const files = setting === 'off' ? 24 : 4;
    const short = await clip({ format: 'mp4', video: { encoder: 'libx264' }, seconds: 1 });
    const webm = await clip({ format: 'webm', video: { encoder: 'libvpx' }, seconds: 1 });
    for (let seed = 1; seed <= files; seed += 1) {
      const bytes = mutated(seed % 2 === 0 ? short : webm, seed);
      const mime = seed % 2 === 0 ? 'video/mp4' : 'video/webm';
      const outcome = await render(decoders, bytes, mime, defaultLadder.slice(0, 1)).then(
        ({ ladder }) => ladder.outcome,
        (error: unknown) => (error instanceof DecodingStopped ? 'stopped' : String(error)),
      );
      expect(outcome, `seed ${seed}`).toMatch(/^(?:rendered|broken|unsupported|stopped)$/);
    }
  });

  test.skipIf(!isHere)('an uploaded video can be scrubbed', async () => {
    const library = await openLibrary(setting === null ? {} : { VITRINE_FFMPEG: setting });
    const owner = await arrive(library, 'owner');
    const uploaded = await upload(owner, plain, {}, 'clip.mp4');
    expect(uploaded).toMatchObject({ processing_status: 'pending', scrub_available: false });
    await library.runJobs();
    const asset = await owner.ok('getAsset', { params: { id: uploaded.id } });
    expect(asset).toMatchObject({
      processing_status: 'ready',
      ladder_available: true,
      scrub_available: true,
      pixel_width: 320,
      pixel_height: 180,
    });
    const { status, headers } = await owner.send(`/assets/${asset.id}/variants/sprites.vtt`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/vtt']);
  });
});

describe('PUT /assets/{id}/poster', { timeout: TIMEOUT_MS }, () => {
  let library: Library;
  let owner: Account;
  let other: Account;
  beforeAll(async () => {
    library = await openLibrary({ VITRINE_FFMPEG: 'off' });
    owner = await arrive(library, 'owner');
    other = await arrive(library, 'other');
  });
  const put = (account: Account, id: string, seconds: unknown) =>
    account.send(`/assets/${id}/poster`, {
      method: 'PUT',
      body: JSON.stringify({ seconds }),
      headers: { 'content-type': 'application/json' },
    });

  /** A second of red, then a second of blue. */
  async function redAndBlue(): Promise<Bytes> {
    const source = 'color=red:s=320x180:r=25:d=1[a];color=blue:s=320x180:r=25:d=1[b];[a][b]concat';
    return clip({ format: 'mp4', video: { source, encoder: 'libx264' } });
  }

  /** Returns the average colour of a stored rendition. */
  async function meanOf(id: string, key: string) {
    const { rows } = await sql<{ object: string }>`
      select f.renditions -> ${key}::text ->> 'object' as object
      from files f join assets a on a.file_hash = f.hash where a.id = ${id}`.execute(library.deps.db);
    return colour(await readFile(objectPath(library, rows[0]?.object ?? '')), 'top');
  }

  // MEDIA-15
  test('shows the chosen frame in the poster and the ladder, with a new ETag', async () => {
    const { id } = await upload(owner, await redAndBlue(), {}, 'clip.mp4');
    await library.runJobs();
    const etagOf = async () => (await owner.send(`/assets/${id}/variants/col`)).headers.get('etag');
    const before = await etagOf();
    for (const [seconds, strongest] of [
      [0.2, 0],
      [1.6, 2],
    ] as const) {
      expect((await put(owner, id, seconds)).status).toBe(202);
      await library.runJobs();
      for (const key of ['poster', 'col', 'preview']) {
        const mean = await meanOf(id, key);
        expect(mean.indexOf(Math.max(...mean)), key).toBe(strongest);
      }
      const { facts } = await owner.ok('getAssetMedia', { params: { id } });
      expect(facts.poster_seconds).toBe(seconds);
    }
    expect(await etagOf()).not.toBe(before);
    expect((await owner.send(`/assets/${id}/variants/hls/master.m3u8`)).status).toBe(200);
  });

  // MEDIA-15
  test('refuses times outside of the video, other files and other callers', async () => {
    const { id } = await upload(owner, plain, {}, 'clip.mp4');
    expect((await put(owner, id, 1)).status).toBe(409);
    await library.runJobs();
    for (const seconds of [-1, 3, '1', null]) expect((await put(owner, id, seconds)).status).toBe(400);
    const picture = await upload(owner, await jpeg(60, 40));
    expect((await put(owner, picture.id, 0)).status).toBe(409);
    expect((await put(other, id, 1)).status).toBe(403);
    expect((await put(owner, id, 1)).status).toBe(202);
  });

  // MEDIA-15
  test('is refused to people who upload a copy of the file', async () => {
    const bytes = await clip({ format: 'mp4', video: { encoder: 'libx264' }, seconds: 1 });
    const original = await upload(owner, bytes, {}, 'clip.mp4');
    await library.runJobs();
    const copy = await upload(other, bytes, {}, 'copy.mp4');
    expect((await put(other, copy.id, 0)).status).toBe(409);
    expect((await put(owner, original.id, 0)).status).toBe(202);
  });
});
