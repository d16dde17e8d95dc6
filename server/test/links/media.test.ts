import type { LinkedMedia } from '@vitrine/contract/link-visits';
import type { ShareLinkCreate } from '@vitrine/contract/links';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { clip } from '../media/clips.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { makeLink, visit } from './visiting.ts';

const library = await openLibrary();
const owner = await library.join('owner');
const wide = await sharp({ create: { width: 5000, height: 300, channels: 3, background: '#46a' } })
  .png()
  .toBuffer();
const film = await clip({
  format: 'webm',
  video: { source: 'testsrc2=s=160x90:r=25', encoder: 'libvpx', options: { deadline: 'realtime' } },
  seconds: 1,
});
const fields = { sensitivity: 'posts' };
const assets = [
  await upload(owner, Uint8Array.from(wide), fields, 'private name.png'),
  await upload(owner, film, fields, 'film.webm'),
  await upload(owner, new TextEncoder().encode('# Tides\n'), fields, 'note.md'),
];
/** A picture with tiles, a video with subtitles, and a text: members of one post. */
const [picture = '', video = '', note = ''] = assets.map(({ id }) => id);
for (const lang of ['de', 'en']) {
  const body = new FormData();
  body.append('file', new Blob([`1\n00:00:01,000 --> 00:00:02,000\n${lang}\n`]), 'film.srt');
  body.append('label', lang.toUpperCase());
  expect((await owner.send(`/assets/${video}/subtitles/${lang}`, { method: 'PUT', body })).status).toBe(201);
}
await library.runJobs();
const postId = (await publish(owner, assets, { visibility: 'private' })).id;

const linkWith = (terms: ShareLinkCreate) => makeLink(owner, 'posts', postId, terms);
const statusAt = async (token: string, path: string) =>
  (await visit(library, `/links/${token}/assets/${path}`)).status;

async function mediaAt(token: string, id: string): Promise<LinkedMedia> {
  const { status, text } = await visit(library, `/links/${token}/assets/${id}/media`);
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

// LINK-10
test('a download with a watermark has no still in place of a film, and says so', async () => {
  const { token } = await linkWith({ allow_download: true, watermark: 'Draft' });
  const answer = await fetch(`${library.address}/api/v1/links/${token}/archive`);
  const zip = Buffer.from(await answer.arrayBuffer()).toString('latin1');
  expect(zip).toContain('private name.webp');
  expect(zip).not.toContain('film.webp');
  expect(zip).toContain(`${video}\tdownloads with a watermark have pictures only`);
  expect(await statusAt(token, `${video}/variants/preview?download=true`)).toBe(403);
  expect(await statusAt(token, `${video}/variants/preview`)).toBe(200);
});

describe('a link that gives originals', () => {
  // LINK-18
  test('serves the media facts without the name of the file, every tile and every text track', async () => {
    const { token } = await linkWith({ allow_download: true });
    const found = await mediaAt(token, picture);
    expect(found).toMatchObject({ mime: 'image/png', kind: 'image', transcoding: null, subtitles: [] });
    expect(found.tiles).toMatchObject({ width: 5000, height: 300, levels: 14 });
    expect(JSON.stringify(found)).not.toContain('private name');
    for (const { key } of found.variants)
      expect([key, await statusAt(token, `${picture}/variants/${key}`)]).toEqual([key, 200]);
    const { version, ...own } = await owner.ok('getAssetMedia', { params: { id: picture } });
    expect(version).toBe(1);
    expect({ ...found, file_name: 'private name.png' }).toEqual({ ...own, subtitles: [] });

    const response = await fetch(`${library.address}/api/v1/links/${token}/assets/${picture}/tiles/13/9_0`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    const { width, height } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
    expect([width, height]).toEqual([5000 - 9 * 510 + 1, 300]);
    expect(await statusAt(token, `${picture}/tiles/14/0_0`)).toBe(404);

    expect((await mediaAt(token, video)).subtitles).toEqual([
      { lang: 'de', label: 'DE' },
      { lang: 'en', label: 'EN' },
    ]);
    const track = await visit(library, `/links/${token}/assets/${video}/subtitles/DE`);
    expect([track.status, track.headers.get('content-type')]).toEqual([200, 'text/vtt; charset=utf-8']);
    expect(track.text).toMatch(/^WEBVTT\n\n.*\nde\n/s);
    expect(track.headers.get('cache-control')).toBe('private, no-cache');
    expect(await statusAt(token, `${video}/subtitles/fr`)).toBe(404);
    expect(await statusAt(token, `${video}/subtitles/no%20tag`)).toBe(400);
  });
});

describe('a link without downloads', () => {
  // LINK-18, MEDIA-13
  test('serves no tiles, which have every pixel of the original, but the other renditions', async () => {
    const { token } = await linkWith({});
    expect((await mediaAt(token, picture)).tiles).toBeNull();
    expect(await statusAt(token, `${picture}/tiles/13/0_0`)).toBe(403);
    expect(await statusAt(token, `${picture}/tiles/0/0_0`)).toBe(403);
    expect(await statusAt(token, `${video}/subtitles/de`)).toBe(200);
    expect((await mediaAt(token, note)).variants.map(({ key }) => key)).toContain('text.html');
  });
});

describe('a link with a watermark', () => {
  // LINK-10
  test('serves only watermarked pictures, regardless of its other options', async () => {
    const { token } = await linkWith({ allow_download: true, watermark: true });
    for (const id of [picture, video, note]) {
      const { tiles, variants, subtitles, transcoding } = await mediaAt(token, id);
      expect([tiles, subtitles, transcoding]).toEqual([null, [], null]);
      for (const { key } of variants) expect(['col', 'preview', 'screen', 'hires']).toContain(key);
    }
    expect((await mediaAt(token, picture)).variants).toHaveLength(4);
    for (const level of [0, 9, 13]) expect(await statusAt(token, `${picture}/tiles/${level}/0_0`)).toBe(403);
    expect(await statusAt(token, `${video}/subtitles/de`)).toBe(404);
    expect(await statusAt(token, `${note}/variants/text.html`)).toBe(404);
    expect(await statusAt(token, `${picture}/variants/tiles`)).toBe(404);
  });
});

test('a link to one asset serves nothing of another', async () => {
  const { token } = await makeLink(owner, 'assets', note, { allow_download: true });
  for (const path of [`${picture}/media`, `${picture}/tiles/13/0_0`, `${video}/subtitles/de`])
    expect(await statusAt(token, path)).toBe(404);
  const closed = await makeLink(owner, 'assets', note);
  expect(await statusAt(closed.token, `${picture}/tiles/13/0_0`)).toBe(404);
});
