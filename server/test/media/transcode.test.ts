import { readdir, writeFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { ffmpegOf } from '../../src/media/ffmpeg/ffmpeg.ts';
import { transcodeLimit } from '../../src/media/transcode.ts';
import { rungsOf, sizeIn } from '../../src/media/video/hls.ts';
import { originalKey, renditionsPrefix } from '../../src/platform/storage/object-key.ts';
import { sweep } from '../../src/sweep/stored-files.ts';
import { releaseBytes } from '../../src/trash/jobs/purge.ts';
import { arrive } from '../posts/people.ts';
import { type Account, type Library, objectPath, openLibrary, upload } from '../support/library.ts';
import { clip, everyFfmpeg, numbered, turned } from './clips.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Starting programs takes long on a busy machine. */
const TIMEOUT_MS = 120_000;

let plain: Bytes;

beforeAll(async () => {
  plain = await clip({ format: 'mp4', video: { encoder: 'libx264' }, audio: { encoder: 'aac' } });
});

describe('the rungs of a video', () => {
  // MEDIA-14
  test.each([
    [{ width: 320, height: 180 }, ['360p'], { width: 320, height: 180 }],
    [{ width: 1920, height: 1080 }, ['360p', '720p', '1080p'], { width: 640, height: 360 }],
    [{ width: 1080, height: 1920 }, ['360p', '720p', '1080p'], { width: 360, height: 640 }],
    [{ width: 3840, height: 2160 }, ['360p', '720p', '1080p'], { width: 640, height: 360 }],
    [{ width: 1280, height: 534 }, ['360p'], { width: 862, height: 360 }],
    [{ width: 16_000, height: 400 }, ['360p'], { width: 4096, height: 102 }],
    [{ width: 3, height: 301 }, ['360p'], { width: 4, height: 302 }],
  ])('of %o are %o, never enlarged', (size, names, lowest) => {
    expect(rungsOf(size).map(({ name }) => name)).toEqual(names);
    expect(sizeIn(360, size)).toEqual(lowest);
  });
});

describe.for(everyFfmpeg)('with $name', { timeout: TIMEOUT_MS }, ({ setting, isHere }) => {
  let library: Library;
  let owner: Account;
  beforeAll(async () => {
    library = await openLibrary(setting === null ? {} : { VITRINE_FFMPEG: setting });
    owner = await arrive(library, 'owner');
  });

  const mediaOf = (id: string) => owner.ok('getAssetMedia', { params: { id } });

  /** Returns the media facts of a file as a player sees them. */
  async function probe(id: string, key: string) {
    const { rows } = await sql<{ object: string }>`
      select f.renditions -> ${key}::text ->> 'object' as object
      from files f join assets a on a.file_hash = f.hash where a.id = ${id}`.execute(library.deps.db);
    const path = objectPath(library, rows[0]?.object ?? 'none');
    return (await ffmpegOf(setting ?? undefined)).probe({ path, mime: 'video/mp4' });
  }

  // MEDIA-14
  test.skipIf(!isHere)('a video gets streams that players read as byte ranges of one file', async () => {
    const { id } = await upload(owner, plain, {}, 'clip.mp4');
    expect((await mediaOf(id)).transcoding).toBeNull();
    await library.runJobs();
    const media = await mediaOf(id);
    expect(media.transcoding).toEqual({ state: 'done', progress: 1 });
    const keys = media.variants.map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(['hls/360p.m3u8', 'hls/360p.mp4', 'hls/master.m3u8']));
    const master = await owner.send(`/assets/${id}/variants/hls/master.m3u8`);
    expect(master.headers.get('content-type')).toBe('application/vnd.apple.mpegurl');
    expect(master.text).toMatch(
      /^#EXTM3U\n[\s\S]*BANDWIDTH=\d+,AVERAGE-BANDWIDTH=\d+,RESOLUTION=320x180,FRAME-RATE=25.000,CODECS="avc1\.6400[\da-f]{2},mp4a\.40\.2"\n360p\.m3u8\n$/,
    );
    const { text: playlist } = await owner.send(`/assets/${id}/variants/hls/360p.m3u8`);
    const [, length = '', start = ''] = /#EXT-X-BYTERANGE:(\d+)@(\d+)\n360p\.mp4\n/.exec(playlist) ?? [];
    const range = `bytes=${start}-${Number(start) + Number(length) - 1}`;
    const segment = await owner.send(`/assets/${id}/variants/hls/360p.mp4`, { headers: { range } });
    expect([segment.status, segment.headers.get('content-type')]).toEqual([206, 'video/mp4']);
    expect(segment.headers.get('content-length')).toBe(length);
    expect(segment.text.slice(0, 12)).toMatch(/moof|sidx|styp/);
    const { video, audio, durationSeconds } = await probe(id, 'hls/360p.mp4');
    expect(video).toMatchObject({ codec: 'h264', width: 320, height: 180 });
    expect(audio?.codec).toBe('aac');
    expect(durationSeconds).toBeCloseTo(2, 0);
  });

  test.skipIf(!isHere)('a rotated video without sound is encoded upright', async () => {
    const source = 'testsrc2=s=320x180:r=25,noise=alls=1';
    const mute = turned(await clip({ format: 'mp4', video: { source, encoder: 'libx264' }, seconds: 1 }));
    const { id } = await upload(owner, mute, {}, 'phone.mp4');
    await library.runJobs();
    expect(await probe(id, 'hls/360p.mp4')).toMatchObject({
      video: { width: 180, height: 320 },
      audio: null,
    });
  });

  test.skipIf(!isHere)('picture and sound of a transport stream start together', async () => {
    const tracks = { video: { encoder: 'libx264' }, audio: { encoder: 'aac' } };
    // Its timestamps begin at 5 s.
    const { id } = await upload(
      owner,
      await clip({ format: 'mpegts', ...tracks, muxing: { output_ts_offset: '5' } }),
      {},
      'clip.ts',
    );
    await library.runJobs();
    const { durationSeconds } = await probe(id, 'hls/360p.mp4');
    expect(Math.abs((durationSeconds ?? 0) - 2)).toBeLessThan(0.5);
  });

  test.skipIf(!isHere)('sound that browsers cannot play gets a rendition that they can', async () => {
    const aiff = await clip({ format: 'aiff', audio: { encoder: 'pcm_s16be' }, seconds: 1 });
    const flac = await clip({ format: 'flac', audio: { encoder: 'flac' }, seconds: 1 });
    const [unplayed, played] = [await upload(owner, aiff), await upload(owner, flac)];
    await library.runJobs();
    expect((await probe(unplayed.id, 'audio.m4a')).audio?.codec).toBe('aac');
    expect((await mediaOf(played.id)).transcoding).toBeNull();
  });
});

// MEDIA-16
describe('transcoding', { timeout: TIMEOUT_MS }, () => {
  let library: Library;
  let owner: Account;
  beforeAll(async () => {
    library = await openLibrary({ VITRINE_FFMPEG: 'off' });
    owner = await arrive(library, 'owner');
  });

  let count = 0;
  /** Creates a unique video. */
  async function newClip(seconds = 1, source = 'testsrc2=s=320x180:r=25'): Promise<Bytes> {
    count += 1;
    return numbered(await clip({ format: 'mp4', video: { source, encoder: 'libx264' }, seconds }), count);
  }

  /** Creates a video that stands still for this many seconds in the middle. */
  function stillFor(seconds: number): Promise<Bytes> {
    const source = `testsrc2=s=480x480:r=25:d=2,setpts='if(gte(N,40),PTS+${seconds}/TB,PTS)'`;
    return clip({ format: 'matroska', video: { source, encoder: 'libx264' }, seconds: seconds + 10 });
  }

  async function stateOf(id: string) {
    return (await owner.ok('getAssetMedia', { params: { id } })).transcoding;
  }

  async function objectsOf(hash: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of library.deps.storage.list(renditionsPrefix(hash))) keys.push(key);
    return keys;
  }

  test('reprocessing replaces a damaged stream and keeps other renditions', async () => {
    const { id, file_hash: hash } = await upload(owner, await newClip());
    await library.runJobs();
    const { storage } = library.deps;
    const stream = (await objectsOf(hash ?? '')).find((key) => key.endsWith('360p.mp4')) ?? '';
    await writeFile(objectPath(library, stream), 'damaged');
    await owner.ok('reprocessAsset', { params: { id } });
    expect((await owner.send(`/assets/${id}/variants/hls/master.m3u8`)).status).toBe(404);
    expect((await owner.send(`/assets/${id}/variants/poster`)).status).toBe(200);
    expect(await stateOf(id)).toMatchObject({ state: 'waiting' });
    await library.runJobs();
    expect(await stateOf(id)).toMatchObject({ state: 'done' });
    expect((await storage.head(stream))?.sizeBytes).toBeGreaterThan(1000);
  });

  test('reprocessing restores missing scrub previews', async () => {
    const { id, file_hash: hash } = await upload(owner, await newClip());
    await library.runJobs();
    const sprites = (await objectsOf(hash ?? '')).find((key) => key.endsWith('sprites.jpg')) ?? '';
    await library.deps.storage.delete(sprites);
    await owner.ok('reprocessAsset', { params: { id } });
    await library.runJobs();
    expect((await owner.send(`/assets/${id}/variants/sprites.jpg`)).status).toBe(200);
  });

  test('streams survive the sweep and are deleted with the original', async () => {
    const { id, file_hash } = await upload(owner, await newClip());
    const hash = file_hash ?? '';
    await library.runJobs();
    await sweep(library.deps, Date.now() + 1000, 0);
    expect(await objectsOf(hash)).toEqual(
      expect.arrayContaining([expect.stringMatching(/master\.m3u8$/), expect.stringMatching(/360p\.mp4$/)]),
    );
    await sql`delete from assets where id = ${id}`.execute(library.deps.db);
    await releaseBytes(library.deps, hash);
    expect(await objectsOf(hash)).toEqual([]);
    expect(await library.deps.storage.head(originalKey(hash))).toBeNull();
  });

  test('a killed decoder leaves no files, and the next attempt succeeds', async () => {
    const { id, file_hash: hash } = await upload(owner, await newClip(5));
    const { db, decoders, storage } = library.deps;
    const working = library.runJobs();
    await expect.poll(() => decoders.pids('transcode').length, { timeout: 60_000 }).toBe(1);
    await expect.poll(() => stateOf(id), { timeout: 60_000 }).toMatchObject({ state: 'running' });
    for (const pid of decoders.pids('transcode')) process.kill(-pid, 'SIGKILL');
    await working;
    expect(await stateOf(id)).toMatchObject({ state: 'waiting', progress: 0 });
    expect((await objectsOf(hash ?? '')).filter((key) => /360p|master/.test(key))).toEqual([]);
    expect((await readdir(storage.incomingDir)).filter((name) => name.startsWith('transcode-'))).toEqual([]);
    await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
    await library.runJobs();
    expect(await stateOf(id)).toEqual({ state: 'done', progress: 1 });
  });

  test('a transcode that runs in another worker is not started again', async () => {
    const { id, file_hash: hash } = await upload(owner, await newClip());
    const { db } = library.deps;
    await sql`insert into transcodes (file_hash, state, progress) values (${hash}, 'running', 0.5)`.execute(
      db,
    );
    await library.runJobs();
    expect(await stateOf(id)).toEqual({ state: 'running', progress: 0.5 });
    await sql`update transcodes set updated_at = now() - interval '2 minutes'`.execute(db);
    await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
    await library.runJobs();
    expect(await stateOf(id)).toEqual({ state: 'done', progress: 1 });
  });

  test('a transcode that exceeds the memory limit fails and is retried on request', async () => {
    const strict = await openLibrary(
      { VITRINE_FFMPEG: 'off' },
      { decoding: { limits: { transcode: { memoryBytes: 60 * 1024 ** 2 } } } },
    );
    const other = await arrive(strict, 'other');
    const { id } = await upload(other, await newClip(1, 'testsrc2=s=1280x720:r=10'));
    await strict.runJobs();
    const media = () => other.ok('getAssetMedia', { params: { id } });
    expect((await media()).transcoding?.state).toBe('failed');
    expect(await other.ok('getAsset', { params: { id } })).toMatchObject({ processing_status: 'ready' });
    await other.ok('reprocessAsset', { params: { id } });
    expect((await media()).transcoding?.state).toBe('waiting');
  });

  test('a video with a long still is encoded in little memory', async () => {
    const strict = await openLibrary(
      { VITRINE_FFMPEG: 'off' },
      { decoding: { limits: { transcode: { memoryBytes: 300 * 1024 ** 2 } } } },
    );
    const other = await arrive(strict, 'other');
    const bytes = await stillFor(45);
    const { id } = await upload(other, bytes, {}, 'slides.mkv');
    await strict.runJobs();
    const media = await other.ok('getAssetMedia', { params: { id } });
    expect(media.transcoding).toEqual({ state: 'done', progress: 1 });
    const { text } = await other.send(`/assets/${id}/variants/hls/360p.m3u8`);
    const seconds = [...text.matchAll(/^#EXTINF:([\d.]+)/gm)].reduce((sum, [, one]) => sum + Number(one), 0);
    expect(seconds).toBeGreaterThan(45);
  });

  // MEDIA-32
  test('a video longer than a day has no streams and gives the reason', async () => {
    const { id } = await upload(owner, await stillFor(25 * 3600), {}, 'slides.mkv');
    await library.runJobs();
    expect(await stateOf(id)).toMatchObject({ state: 'failed' });
    const { rows } = await sql`select t.error from transcodes t join assets a on a.file_hash = t.file_hash
      where a.id = ${id}`.execute(library.deps.db);
    expect(rows).toEqual([{ error: 'it is longer than 24 hours' }]);
  });

  test.each([
    [{ duration_seconds: 60 }, 40],
    [{ duration_seconds: 12 * 3600 }, 72 * 60],
    [{}, 10],
  ])('%o may take %i minutes', (facts, minutes) => {
    expect(transcodeLimit(facts)).toBe(minutes * 60_000);
  });
});
