import { glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AssetMedia } from '@vitrine/contract/media';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { ffmpegOf } from '../../src/media/ffmpeg/choose.ts';
import { wire } from '../extraction/files.ts';
import { requestAs } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { colourAt, expectColour } from './still-kit.ts';

/** Files like those of which users of similar software reported that they are mistaken. */
const directory = fileURLToPath(new URL('reported', import.meta.url));
const names = (await Array.fromAsync(glob('*/*', { cwd: directory }))).toSorted();

const library = await openLibrary();
const admin = await library.join('admin', 'admin');
const [mara, reader] = await library.joinAll('mara', 'reader');

const sources = ['title', 'creator', 'copyright', 'city', 'keywords', 'capture_datetime', 'duration_seconds'];
const wired = new Map<string, string>();
for (const source of sources) wired.set(await wire(library, admin, 'text', { source }), source);
wired.set(await wire(library, admin, 'datetime', { source: 'capture_datetime' }), 'datetime');
wired.set(await wire(library, admin, 'date', { source: 'capture_datetime' }), 'date');

// All files together, because jobs then run concurrently.
const ids = new Map<string, string>();
for (const name of names) {
  const bytes = Uint8Array.from(await readFile(join(directory, name)));
  ids.set(name, (await upload(mara, bytes, {}, name.replace('/', ' '))).id);
}
await library.runJobs();

/** Returns the id of the asset of a file. */
function idOf(name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`there is no ${name}`);
  return id;
}

/** Returns the facts and renditions that a reader is offered. */
const mediaOf = (name: string): Promise<AssetMedia> =>
  reader.ok('getAssetMedia', { params: { id: idOf(name) } });

async function renditionOf(name: string, key: string): Promise<Buffer> {
  const answer = await requestAs(reader, library, `/assets/${idOf(name)}/variants/${key}`);
  expect(answer.status, `${key} of ${name}`).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

/** Returns what the fields that are wired to sources say. */
async function valuesOf(name: string): Promise<Record<string, string>> {
  const { items } = await reader.ok('listAssetFieldValues', { params: { id: idOf(name) } });
  return Object.fromEntries(
    items.flatMap(({ field_id, value_text, value_date }) => {
      const source = wired.get(field_id);
      return source === undefined ? [] : [[source, value_text ?? value_date ?? '']];
    }),
  );
}

/** Returns a rendition as a film that can be decoded. */
async function filmOf(name: string, key: string) {
  const path = join(library.config.dataDir, `${idOf(name)}.mp4`);
  await writeFile(path, await renditionOf(name, key));
  const ffmpeg = await ffmpegOf(undefined);
  const source = { path, mime: 'video/mp4' };
  return { ffmpeg, source, ...(await ffmpeg.probe(source)) };
}

/** Archives, and a TIFF whose directory names no pixels. */
const notDrawn: readonly string[] = names.filter(
  (name) => name.startsWith('names/') || name === 'img/24-webp.tif',
);

// MEDIA-6
test.each(names)('%s can be read by others, and has a preview if it can be drawn', async (name) => {
  const asset = await reader.ok('getAsset', { params: { id: idOf(name) } });
  expect(asset).toMatchObject({ processing_status: 'ready', preview_available: !notDrawn.includes(name) });
  const original = await requestAs(reader, library, `/assets/${idOf(name)}/file`);
  expect(Buffer.from(await original.arrayBuffer()).equals(await readFile(join(directory, name)))).toBe(true);
});

// MEDIA-1
test.each([
  ['av/30-zeros-before.mp3', 'audio/mpeg'],
  ['pdf/30-bytes-before.pdf', 'application/pdf'],
  ['img/23-t2.tga', 'image/x-tga'],
  ['img/23-t10rle.tga', 'image/x-tga'],
  ['img/23-t3gray.tga', 'image/x-tga'],
  ['model/29-ascii-upper.stl', 'model/stl'],
  ['model/29-comment-first.ply', 'model/ply'],
  ['model/29-objinfo-first.ply', 'model/ply'],
  ['model/29-far.obj', 'model/obj'],
  ['text/12-sjis.txt', 'text/plain'],
  ['text/12-latin1.html', 'text/plain'],
  ['text/12-latin1.xml', 'text/plain'],
  ['img/13-utf16.svg', 'image/svg+xml'],
  ['img/13-latin1.svg', 'image/svg+xml'],
])('%s is recognised as %s', async (name, mime) => {
  expect((await mediaOf(name)).mime).toBe(mime);
});

describe('the colour of', () => {
  // MEDIA-34, MEDIA-35, MEDIA-45, MEDIA-46, MEDIA-51
  test.each([
    ['av/4-tagged-hd.mp4', 'poster', [200, 60, 40], 6],
    ['av/4-untagged-hd.mp4', 'poster', [200, 60, 40], 6],
    ['av/4-untagged-hd.mpg', 'poster', [200, 60, 40], 6],
    ['av/4-untagged-hd.avi', 'poster', [200, 60, 40], 6],
    ['av/4-untagged-sd.mp4', 'poster', [200, 60, 40], 6],
    ['av/6-thumb-first.mkv', 'poster', [0, 254, 0], 8],
    ['img/7-p3.avif', 'preview', [0, 203, 74], 4],
    ['img/7-p3.heic', 'preview', [0, 203, 74], 4],
    ['img/7-2020.avif', 'preview', [0, 210, 68], 4],
    ['img/7-cicp-p3.png', 'preview', [0, 203, 73], 4],
    ['img/7-icc-p3.png', 'preview', [0, 203, 73], 4],
    ['img/13-cssvar.svg', 'preview', [60, 200, 90], 4],
    ['img/24-grey-float.tif', 'preview', [188, 188, 188], 4],
  ] as const)('%s is the one that players and browsers show (%s)', async (name, key, due, tolerance) => {
    expectColour(await colourAt(await renditionOf(name, key)), due, tolerance);
  });
});

// MEDIA-46
test('av/6-thumb-first.mkv has the size of its film', async () => {
  const { variants } = await mediaOf('av/6-thumb-first.mkv');
  expect(variants.find(({ key }) => key === 'preview')).toMatchObject({ width: 320, height: 180 });
});

// MEDIA-46
test.each(['av/5-second-is-default.mkv', 'av/5-second-is-default.mp4'])(
  '%s plays the sound that is marked as default',
  async (name) => {
    const { ffmpeg, source, audio } = await filmOf(name, 'hls/360p.mp4');
    if (audio === null) throw new Error('no sound');
    const samples = Buffer.concat(await Array.fromAsync(ffmpeg.samples(source, audio)));
    // One second from the middle, at 8,000 Hz.
    let rises = 0;
    for (let at = 4000; at < 12_000; at += 1) {
      if (samples.readInt16LE(at * 2) < 0 && samples.readInt16LE(at * 2 + 2) >= 0) rises += 1;
    }
    expect(Math.abs(rises - 1760)).toBeLessThan(20);
  },
);

// MEDIA-47
test('av/27-vfr.mp4 keeps the 20 frames of its first 0.8 s in its stream', async () => {
  const { ffmpeg, source, video } = await filmOf('av/27-vfr.mp4', 'hls/360p.mp4');
  if (video === null) throw new Error('no video');
  const shape = { width: 16, height: 12 };
  const filter = 'scale=16:12,setsar=1,format=rgb24';
  const signal = AbortSignal.timeout(20_000);
  const different = new Set<string>();
  const request = { count: 20, interval: 1 / 25, filter, exact: true, signal, ...shape };
  for await (const pixels of ffmpeg.frames(source, video, request)) different.add(pixels.toString('hex'));
  expect(different.size).toBe(20);
});

// EXTRACT-5, EXTRACT-13, EXTRACT-14, EXTRACT-15, EXTRACT-16, MEDIA-48
test.each<[string, Record<string, string | undefined>]>([
  ['meta/2-nooffset.jpg', { datetime: '2024-05-06T23:30:00Z', date: '2024-05-06T00:00:00Z' }],
  ['meta/2-offset.jpg', { datetime: '2024-05-06T23:30:00+09:00', date: '2024-05-06T00:00:00Z' }],
  ['meta/3-d-year-xmp.jpg', { capture_datetime: '1965', datetime: undefined, date: undefined }],
  ['meta/3-d-month-xmp.jpg', { capture_datetime: '1965-06', datetime: undefined, date: undefined }],
  ['meta/3-d-gps-only.jpg', { datetime: '2019-01-02T03:04:05Z' }],
  ['av/8-id3-after.wav', { creator: 'Ann After', title: 'A title' }],
  ['av/8-info-after.wav', { creator: 'Ann After', title: 'A title', copyright: '(c) After' }],
  ['av/8-info-before.wav', { creator: 'Ann After', title: 'A title', copyright: '(c) After' }],
  ['img/8-xmp-after-comment.gif', { creator: 'Gif Xmp', keywords: 'gifkw' }],
  ['av/9-vbr-without-xing.mp3', { duration_seconds: '20.062' }],
  ['av/9-adts.aac', { duration_seconds: '10.077' }],
  ['meta/10-exif-latin1.jpg', { creator: 'José Müller', copyright: '© Größe' }],
  ['meta/10-iptc-latin1.jpg', { creator: 'José Müller', keywords: 'Heinrichshütte', city: 'Malmö' }],
  ['meta/10-iptc-utf8-marked.jpg', { creator: 'Łukasz', keywords: 'Česká', city: 'Jönköping' }],
  [
    'meta/10-iptc-utf8-unmarked.jpg',
    { creator: 'Jörg Müller', keywords: 'Jönköping, Česká', city: 'Jönköping' },
  ],
  ['av/10-id3-utf8-as-latin1.mp3', { creator: 'Jörg Müller' }],
  ['meta/11-k-hier-only.jpg', { keywords: 'Cat' }],
  ['meta/11-k-digikam.jpg', { keywords: 'Dog' }],
  ['meta/11-k-both.jpg', { keywords: 'only-xmp, only-hier, only-iptc' }],
  ['img/13-utf16.svg', { title: 'Größe' }],
  ['img/13-latin1.svg', { title: 'Größe' }],
])('the metadata of %s are %o', async (name, due) => {
  const found = await valuesOf(name);
  expect(Object.fromEntries(Object.keys(due).map((source) => [source, found[source]]))).toEqual(due);
});

// MEDIA-48
test.each([
  ['av/9-vbr-without-xing.mp3', 20.06],
  ['av/9-adts.aac', 10.08],
])('the facts of %s say that it lasts %d s', async (name, seconds) => {
  expect((await mediaOf(name)).facts.duration_seconds).toBeCloseTo(seconds, 2);
});

// MEDIA-39, MEDIA-40
test.each([
  ['text/12-cp1251.txt', 'Привет мир'],
  ['text/12-cp1252.txt', 'Grüße aus Köln'],
  ['text/12-cp1252.csv', 'Müller'],
  ['text/12-gbk.txt', '中文说明'],
  ['text/12-sjis.txt', '東京の夜景'],
  ['text/12-latin1.html', 'Größe wallaroohtml'],
  ['text/12-latin1.xml', 'Größe'],
  ['pdf/18-hyphens.pdf', 'exhibition'],
  ['pdf/18-hyphens.pdf', 'wallabies'],
])('%s is found by its words: %s', async (name, q) => {
  const { items } = await reader.ok('search', { query: { q } });
  const found = items.flatMap((item) => (item.kind === 'asset' ? [item.asset.id] : []));
  expect(found).toContain(idOf(name));
});

// SUBTITLE-4
test.each([
  ['text/14-cp1250.srt', 'Příliš žluťoučký kůň úpěl ďábelské ódy'],
  ['text/14-cp1251.srt', 'Привет, мир! Это субтитры для проверки кодировки.'],
  ['text/14-cp1252.srt', 'Grüße “quoted”'],
  ['text/14-cp1253.srt', 'Γειά σου Κόσμε'],
  ['text/14-gbk.srt', '你好，世界。这是中文字幕'],
  ['text/14-big5.srt', '你好，世界'],
  ['text/14-sjis.srt', 'こんにちは世界。字幕のテストです。'],
  ['text/14-noblank.srt', 'Hello\n\n00:00:03.000 --> 00:00:04.000\nTwo'],
])('%s is readable as subtitles', async (name, text) => {
  const body = new FormData();
  body.append('file', new Blob([Uint8Array.from(await readFile(join(directory, name)))]), 'film.srt');
  const params = { id: idOf('av/6-thumb-first.mkv'), lang: 'und' };
  await mara.ok('putSubtitles', { params, body });
  expect((await reader.send(`/assets/${params.id}/subtitles/und`)).text).toContain(text);
});

// SUBTITLE-9
test.each(['av/31-embedded.mkv', 'av/31-embedded.mp4'])('%s offers the subtitles inside it', async (name) => {
  const asset = await reader.ok('getAsset', { params: { id: idOf(name) } });
  expect(asset).toMatchObject({ subtitle_tracks: [{ lang: 'en' }] });
  expect((await reader.send(`/assets/${idOf(name)}/subtitles/en`)).text).toContain('Embedded wallaby');
});

// MEDIA-49
test('img/31-motion.jpg plays its film', async () => {
  const { facts, variants } = await mediaOf('img/31-motion.jpg');
  expect(facts.motion).toBe(true);
  expect(variants.map(({ key }) => key)).toEqual(expect.arrayContaining(['motion.mp4', 'hls/master.m3u8']));
  expect((await filmOf('img/31-motion.jpg', 'motion.mp4')).video).not.toBeNull();
});

// MEDIA-20
test.each([
  ['names/16-utf8flag.zip', ['Größe/東京.txt']],
  ['names/16-utf8noflag.zip', ['Größe/東京.txt']],
  ['names/16-cp437.zip', ['Größe/Müller.txt']],
  ['names/16-sjis.zip', ['東京/夜景.jpg', 'メモ.txt']],
])('%s lists %o', async (name, due) => {
  const { entries }: { entries: { path: string }[] } = JSON.parse(
    String(await renditionOf(name, 'contents.json')),
  );
  expect(entries.map(({ path }) => path)).toEqual(due);
});

/** Returns the share of pixels of the first page that `isMeant` selects. */
async function shareOf(
  name: string,
  isMeant: (red: number, green: number, blue: number) => boolean,
): Promise<number> {
  const pixels = await sharp(await renditionOf(name, 'page-1'))
    .raw()
    .toBuffer();
  let count = 0;
  for (let at = 0; at < pixels.length; at += 3) {
    const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3);
    if (isMeant(red, green, blue)) count += 1;
  }
  return count / (pixels.length / 3);
}

// MEDIA-40
test.each(['pdf/17-form-ap.pdf', 'pdf/17-stamp.pdf'])('%s shows its red annotation', async (name) => {
  const red = await shareOf(name, (r, g, b) => r > 200 && g < 60 && b < 60);
  expect(red).toBeCloseTo(0.36, 1);
});

// MEDIA-52
test('pdf/19-cjk.pdf shows its characters', async () => {
  expect(await shareOf('pdf/19-cjk.pdf', (red) => red < 100)).toBeGreaterThan(0.05);
});
