import { readFile, writeFile } from 'node:fs/promises';
import { sql } from 'kysely';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { releaseBytes } from '../../src/content/trash/jobs/purge.ts';
import { ffmpegOf } from '../../src/media/ffmpeg/choose.ts';
import { isTranscoded, transcodeLimit } from '../../src/media/transcode.ts';
import { rungsOf, sizeIn } from '../../src/media/video/hls.ts';
import { sweep } from '../../src/operate/storage/sweep/stored-files.ts';
import { saySentence, sentence } from '../../src/platform/language/sentence.ts';
import { originalKey, renditionsPrefix } from '../../src/platform/storage/object-key.ts';
import { objectPath, openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { apertured, clip, everyFfmpeg, numbered, turned } from './clips.ts';
import { colourAt, expectColour, openStudio, pictureOf } from './still-kit.ts';

const mute = { format: 'mp4', video: { encoder: 'libx264' }, seconds: 1 };
const film = { ...mute, audio: { encoder: 'aac' } };

/** A video that stands still for this many seconds in the middle. */
function stillFor(seconds: number) {
  const source = `testsrc2=s=320x320:r=25:d=2,setpts='if(gte(N,40),PTS+${seconds}/TB,PTS)'`;
  return clip({ format: 'matroska', video: { source, encoder: 'libx264' }, seconds: seconds + 10 });
}

// MEDIA-14
test.each([
  [{ width: 320, height: 180 }, ['360p'], { width: 320, height: 180 }],
  [{ width: 1080, height: 1920 }, ['360p', '720p', '1080p'], { width: 360, height: 640 }],
  [{ width: 3840, height: 2160 }, ['360p', '720p', '1080p'], { width: 640, height: 360 }],
  [{ width: 1280, height: 534 }, ['360p'], { width: 862, height: 360 }],
  [{ width: 16_000, height: 400 }, ['360p'], { width: 4096, height: 102 }],
  [{ width: 3, height: 301 }, ['360p'], { width: 4, height: 302 }],
])('the rungs of a video of %o are %o, never enlarged', (size, names, lowest) => {
  expect(rungsOf(size).map(({ name }) => name)).toEqual(names);
  expect(sizeIn(360, size)).toEqual(lowest);
});

// MEDIA-32
test.each([
  [{ duration_seconds: 60 }, 40],
  [{ duration_seconds: 12 * 3600 }, 72 * 60],
  [{}, 10],
])('the transcode of %o may take %i minutes', (facts, minutes) => {
  expect(transcodeLimit(facts)).toBe(minutes * 60_000);
});

describe.for(everyFfmpeg)('with $name', ({ setting, isHere }) => {
  const memoryBytes = 300 * 1024 ** 2;
  const studio = openStudio({ ffmpeg: setting, limits: { transcode: { memoryBytes } } });

  /** Returns the path of each stream. */
  async function streamsOf(bytes: Uint8Array) {
    const made = await studio.transcode(bytes);
    if (made.outcome !== 'done') throw new Error(saySentence('en', made.reason));
    return new Map<string, string>(made.renditions.map(({ key, path }) => [key, path]));
  }

  /** Returns the media facts of a stream as a player sees them. */
  async function probe(streams: ReadonlyMap<string, string>, key = 'hls/360p.mp4') {
    const path = streams.get(key) ?? '';
    return (await ffmpegOf(setting ?? undefined)).probe({ path, mime: 'video/mp4' });
  }

  // MEDIA-14
  test.skipIf(!isHere)('a video gets streams that players read as byte ranges of one file', async () => {
    const streams = await streamsOf(await clip(film));
    const textOf = (key: string) => readFile(streams.get(key) ?? '', 'utf8');
    expect(await textOf('hls/master.m3u8')).toMatch(
      /^#EXTM3U\n[\s\S]*BANDWIDTH=\d+,AVERAGE-BANDWIDTH=\d+,RESOLUTION=320x180,FRAME-RATE=25.000,CODECS="avc1\.6400[\da-f]{2},mp4a\.40\.2"\n360p\.m3u8\n$/,
    );
    const playlist = await textOf('hls/360p.m3u8');
    const [, length, start] = /#EXT-X-BYTERANGE:(\d+)@(\d+)\n360p\.mp4\n/.exec(playlist) ?? [];
    const stream = await readFile(streams.get('hls/360p.mp4') ?? '');
    const segment = stream.subarray(Number(start), Number(start) + Number(length));
    expect(segment.subarray(0, 12).toString('latin1')).toMatch(/moof|sidx|styp/);
    const { video, audio, durationSeconds } = await probe(streams);
    expect([video, audio]).toMatchObject([{ codec: 'h264', width: 320, height: 180 }, { codec: 'aac' }]);
    expect(durationSeconds).toBeCloseTo(1, 0);
  });

  test.skipIf(!isHere)('a rotated video without sound is encoded upright', async () => {
    const streams = await streamsOf(turned(await clip(mute)));
    expect(await probe(streams)).toMatchObject({ video: { width: 180, height: 320 }, audio: null });
  });

  // MEDIA-61
  test.skipIf(!isHere)('a stream has no edges that the container cuts off', async () => {
    const bytes = apertured(await clip(mute), { width: 240, height: 120 });
    expect(await probe(await streamsOf(bytes))).toMatchObject({ video: { width: 240, height: 120 } });
  });

  // MEDIA-61
  test.skipIf(!isHere)('the transparent parts of a stream are white', async () => {
    const source = 'color=black@0:s=320x180:r=5,format=yuva420p';
    const video = { source, encoder: 'libvpx-vp9', pixels: 'yuva420p' };
    const streams = await streamsOf(await clip({ format: 'webm', video, seconds: 1 }));
    const bytes = await readFile(streams.get('hls/360p.mp4') ?? '');
    const picture = pictureOf(await studio.decode(Uint8Array.from(bytes)));
    expectColour(await colourAt(picture.path), [255, 255, 255]);
  });

  test.skipIf(!isHere)('picture and sound of a transport stream start together', async () => {
    // Its timestamps begin at 5 s.
    const muxing = { output_ts_offset: '5' };
    const bytes = await clip({ ...film, format: 'mpegts', muxing });
    const { durationSeconds } = await probe(await streamsOf(bytes));
    expect(Math.abs((durationSeconds ?? 0) - 1)).toBeLessThan(0.5);
  });

  test.skipIf(!isHere)('sound that browsers cannot play gets a rendition that they can', async () => {
    const aiff = await clip({ format: 'aiff', audio: { encoder: 'pcm_s16be' }, seconds: 1 });
    const flac = await clip({ format: 'flac', audio: { encoder: 'flac' }, seconds: 1 });
    expect((await probe(await streamsOf(aiff), 'audio.m4a')).audio?.codec).toBe('aac');
    for (const [bytes, due] of [[aiff, true] as const, [flac, false] as const]) {
      const { mime, facts } = await studio.decode(bytes);
      expect([mime, isTranscoded(mime, facts)]).toEqual([mime, due]);
    }
  });

  test.skipIf(!isHere)('a video with a long still is encoded in little memory', async () => {
    const playlist = (await streamsOf(await stillFor(45))).get('hls/360p.m3u8') ?? '';
    const lengths = [...(await readFile(playlist, 'utf8')).matchAll(/^#EXTINF:([\d.]+)/gm)];
    expect(lengths.reduce((sum, [, seconds]) => sum + Number(seconds), 0)).toBeGreaterThan(45);
  });

  // MEDIA-32
  test.skipIf(!isHere)('a video longer than a day has no streams and gives the reason', async () => {
    const due = { outcome: 'broken', reason: sentence('it is longer than 24 hours') };
    expect(await studio.transcode(await stillFor(25 * 3600))).toEqual(due);
  });
});

const library = await openLibrary({ VITRINE_FFMPEG: 'off' });
const owner = await library.join('owner');
/** A video with finished streams. */
const { id, file_hash, ...uploaded } = await upload(owner, await clip(film), {}, 'clip.mp4');
expect(uploaded).toMatchObject({ processing_status: 'pending', scrub_available: false });
expect((await owner.ok('getAssetMedia', { params: { id } })).transcoding).toBeNull();
await library.runJobs();
const hash = file_hash ?? '';

// MEDIA-16
describe('the streams of an uploaded video', () => {
  const done = { state: 'done', progress: 1 };

  const mediaOf = (asset: string) => owner.ok('getAssetMedia', { params: { id: asset } });
  const stateOf = async (asset: string) => (await mediaOf(asset)).transcoding;
  const variant = (key: string) => owner.status('GET', `/assets/${id}/variants/${key}`);
  const reprocess = () => owner.ok('reprocessAsset', { params: { id } });

  const objects = () => Array.fromAsync(library.deps.storage.list(renditionsPrefix(hash)), ({ key }) => key);
  const objectOf = async (name: string) => (await objects()).find((key) => key.endsWith(name)) ?? '';

  test('are served as byte ranges beside its scrub previews', async () => {
    expect(await owner.ok('getAsset', { params: { id } })).toMatchObject({
      processing_status: 'ready',
      ladder_available: true,
      scrub_available: true,
      pixel_width: 320,
      pixel_height: 180,
    });
    const { transcoding, variants } = await mediaOf(id);
    expect(transcoding).toEqual(done);
    const keys = ['hls/360p.m3u8', 'hls/360p.mp4', 'hls/master.m3u8'];
    expect(variants.map(({ key }) => key)).toEqual(expect.arrayContaining(keys));
    const typeOf = async (key: string, headers = {}) => {
      const sent = await owner.send(`/assets/${id}/variants/${key}`, { headers });
      return `${sent.status} ${sent.headers.get('content-type')}`;
    };
    expect(await typeOf('hls/master.m3u8')).toBe('200 application/vnd.apple.mpegurl');
    expect(await typeOf('hls/360p.mp4', { range: 'bytes=0-99' })).toBe('206 video/mp4');
    expect(await typeOf('sprites.vtt')).toBe('200 text/vtt');
  });

  test('are replaced by reprocessing if they are damaged, and missing scrub previews are restored', async () => {
    const { storage } = library.deps;
    const stream = await objectOf('360p.mp4');
    await writeFile(objectPath(library, stream), 'damaged');
    await reprocess();
    expect([await variant('hls/master.m3u8'), await variant('poster')]).toEqual([404, 200]);
    expect(await stateOf(id)).toMatchObject({ state: 'waiting' });
    await library.runJobs();
    expect(await stateOf(id)).toMatchObject({ state: 'done' });
    expect((await storage.head(stream))?.sizeBytes).toBeGreaterThan(1000);
    await storage.delete(await objectOf('sprites.jpg'));
    await reprocess();
    await library.runJobs();
    expect(await variant('sprites.jpg')).toBe(200);
  });

  test('survive the sweep and are deleted with the original', async () => {
    await sweep(library.deps, Date.now() + 1000, 0);
    expect([await objectOf('master.m3u8'), await objectOf('360p.mp4')]).not.toContain('');
    await sql`delete from assets where id = ${id}`.execute(library.deps.db);
    await releaseBytes(library.deps, hash);
    expect(await objects()).toEqual([]);
    expect(await library.deps.storage.head(originalKey(hash))).toBeNull();
  });

  test('are not made twice while another worker makes them', async () => {
    const other = await upload(owner, numbered(await clip(film), 2));
    const { db } = library.deps;
    const running = { state: 'running' as const, progress: 0.5 };
    const transcode = { file_hash: other.file_hash ?? '', ...running };
    await db.insertInto('transcodes').values(transcode).execute();
    await library.runJobs();
    expect(await stateOf(other.id)).toEqual(running);
    await sql`update transcodes set updated_at = now() - interval '2 minutes'`.execute(db);
    await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
    await library.runJobs();
    expect(await stateOf(other.id)).toEqual(done);
  });

  test('are missing when they need too much memory, and are made again on request', async () => {
    const strict = await openLibrary(
      { VITRINE_FFMPEG: 'off' },
      { decoding: { limits: { transcode: { memoryBytes: 40 * 1024 ** 2 } } } },
    );
    const other = await strict.join('other');
    const large = await upload(other, await clip(film));
    const params = { id: large.id };
    const state = async () => (await other.ok('getAssetMedia', { params })).transcoding?.state;
    await strict.runJobs();
    expect(await state()).toBe('failed');
    expect(await other.ok('getAsset', { params })).toMatchObject({ processing_status: 'ready' });
    await other.ok('reprocessAsset', { params });
    expect(await state()).toBe('waiting');
  });

  // MEDIA-15, ASSET-40
  test('remain when another moment is chosen for the poster, by those who may choose it', async () => {
    const source = 'color=red:s=320x180:r=25:d=1[a];color=blue:s=320x180:r=25:d=1[b];[a][b]concat';
    const bytes = await clip({ format: 'mp4', video: { source, encoder: 'libx264' } });
    const { id: two } = await upload(owner, bytes, {}, 'clip.mp4');
    const other = await library.join('other');
    const put = (asset: string, seconds: number, account = owner) =>
      account.status('PUT', `/assets/${asset}/poster`, { seconds });
    const etagOf = async () => (await owner.send(`/assets/${two}/variants/col`)).headers.get('etag');
    expect(await put(two, 1)).toBe(409);
    await library.runJobs();
    const before = await etagOf();
    const copy = await upload(other, bytes, {}, 'copy.mp4');
    const plain = await upload(owner, plainFile());
    const refused = [put(two, 3), put(plain.id, 0), put(two, 1, other), put(copy.id, 0, other)];
    expect(await Promise.all(refused)).toEqual([400, 409, 403, 409]);

    for (const [seconds, strongest] of [
      [0.2, 0],
      [1.6, 2],
    ] as const) {
      expect(await put(two, seconds)).toBe(202);
      await library.runJobs();
      const { rows } = await sql<{ renditions: Record<string, { object: string }> }>`select f.renditions
        from files f join assets a on a.file_hash = f.hash where a.id = ${two}`.execute(library.deps.db);
      for (const key of ['poster', 'col', 'preview']) {
        const { channels } = await sharp(objectPath(library, rows[0]?.renditions[key]?.object ?? '')).stats();
        const means = channels.map(({ mean }) => mean);
        expect(means.indexOf(Math.max(...means)), key).toBe(strongest);
      }
      expect((await mediaOf(two)).facts.poster_seconds).toBe(seconds);
    }
    expect(await etagOf()).not.toBe(before);
    expect(await owner.status('GET', `/assets/${two}/variants/hls/master.m3u8`)).toBe(200);
    const { items } = await owner.ok('listAssetHistory', { params: { id: two }, query: {} });
    expect(items.filter(({ properties }) => properties?.includes('poster') === true)).toHaveLength(2);
  });
});
