import { describe, expect, test } from 'vitest';
import { requestAs } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { jpeg, plainText, svg } from '../support/pictures.ts';

const library = await openLibrary();
const mara = await library.join('mara');
const bytes = await jpeg(120, 80);
const asset = await upload(mara, bytes);
await library.runJobs();

async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await requestAs(mara, library, `/assets/${asset.id}/${path}`, { method, headers });
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, body };
}

describe('GET /assets/{id}/file', () => {
  // FILE-1
  test('returns exactly the bytes that were uploaded; HEAD only the headers', async () => {
    const sent = await get('file');
    expect([sent.status, sent.body.equals(bytes)]).toEqual([200, true]);
    expect(sent.headers.get('etag')).toBe(`"${asset.file_hash}"`);
    expect(sent.headers.get('content-type')).toBe('image/jpeg');
    expect(sent.headers.get('x-content-type-options')).toBe('nosniff');
    for (const method of ['GET', 'HEAD'])
      expect((await get('file', {}, method)).headers.get('content-length')).toBe(String(bytes.length));
  });

  // FILE-1
  test('returns the bytes of a Range', async () => {
    for (const [range, start, end] of [
      ['bytes=0-99', 0, 100],
      ['bytes=100-', 100, undefined],
      ['bytes=-50', -50, undefined],
      ['bytes=10-99999999', 10, undefined],
      ['BYTES=0-99', 0, 100],
    ] as const) {
      const sent = await get('file', { range });
      const want = bytes.slice(start, end);
      expect([range, sent.status, sent.body.equals(want)]).toEqual([range, 206, true]);
      const from = start < 0 ? bytes.length + start : start;
      const due = `bytes ${from}-${from + want.length - 1}/${bytes.length}`;
      expect([range, sent.headers.get('content-range')]).toEqual([range, due]);
    }
    const beyond = await get('file', { range: `bytes=${bytes.length}-` });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${bytes.length}`]);
    for (const range of ['bytes=abc', 'lines=0-1', 'bytes=5-2', 'bytes=0-1,4-5'])
      expect([range, (await get('file', { range })).status]).toEqual([range, 200]);
  });

  // FILE-1, HTTP-21
  test('returns a range only if If-Range matches, and 304 if the client has the bytes', async () => {
    const etag = `"${asset.file_hash}"`;
    for (const [given, path, due] of [
      [etag, 'file', 206],
      ['"other"', 'file', 200],
      [`W/${etag}`, 'file', 200],
      [new Date().toUTCString(), 'file', 200],
      ['"other"', 'variants/col', 200],
    ] as const) {
      const { status } = await get(path, { range: 'bytes=0-9', 'if-range': given });
      expect([given, path, status]).toEqual([given, path, due]);
    }
    const sent = await get('file', { 'if-none-match': `"x", ${etag}` });
    expect([sent.status, sent.body.length]).toEqual([304, 0]);
  });

  // FILE-4
  test('is cacheable forever only at the URL with the hash, and never by shared caches', async () => {
    for (const [path, due] of [
      ['file', 'private, no-cache'],
      [`file?v=${asset.file_hash}`, 'private, max-age=31536000, immutable'],
      ['file?v=other', 'private, no-cache'],
    ] as const)
      expect([path, (await get(path)).headers.get('cache-control')]).toEqual([path, due]);
  });

  // FILE-2
  test('displays pictures inline, and sends content that a browser could run as a download', async () => {
    const drawing = await upload(mara, svg(100, 100), {}, 'drawing.svg');
    const page = await upload(mara, plainText('<!doctype html><script>alert(1)</script>'), {}, 'page.html');
    for (const [path, due] of [
      [`${asset.id}/file`, 'inline'],
      [`${asset.id}/file?download=true`, 'attachment'],
      [`${drawing.id}/file`, 'attachment'],
      [`${page.id}/file`, 'attachment'],
    ] as const) {
      const { headers } = await mara.send(`/assets/${path}`);
      expect([path, headers.get('content-disposition')?.split(';')[0]]).toEqual([path, due]);
      expect(headers.get('content-security-policy')).toContain('sandbox');
    }
    // A peer may have spelled the type of a mirrored file.
    const { db } = library.database;
    for (const mime of ['image/SVG+xml', 'image/svg+xml;charset=utf-8', 'image/svg+xml ', 'IMAGE/svg+xml']) {
      await db
        .updateTable('files')
        .set({ mime })
        .where('hash', '=', drawing.file_hash ?? '')
        .execute();
      const { headers } = await mara.send(`/assets/${drawing.id}/file`);
      expect([mime, headers.get('content-disposition')]).toEqual([
        mime,
        expect.stringMatching(/^attachment;/),
      ]);
    }
  });
});

describe('GET /assets/{id}/variants/{key}', () => {
  // MEDIA-3, MEDIA-24
  test('returns every size of the ladder as WebP, as the media of the asset says', async () => {
    const { variants } = await mara.ok('getPreviews');
    expect(variants.map(({ key, fit, max_dim }) => [key, fit, max_dim])).toEqual([
      ['col', 'cover', 320],
      ['preview', 'contain', 1024],
      ['screen', 'contain', 2048],
      ['hires', 'contain', 4096],
    ]);
    const media = await mara.ok('getAssetMedia', { params: { id: asset.id } });
    expect(media).toMatchObject({ mime: 'image/jpeg', kind: 'image', facts: {} });
    expect(media.variants.map(({ key }) => key).sort()).toEqual(variants.map(({ key }) => key).sort());
    for (const { key, type, bytes: size } of media.variants) {
      const { status, headers } = await get(`variants/${key}`);
      const sent = [key, status, headers.get('content-type'), headers.get('content-length')];
      expect(sent).toEqual([key, 200, 'image/webp', String(size)]);
      expect(type).toBe('image/webp');
    }
  });

  // FILE-3, MEDIA-24
  test('returns the same 404 for an unknown rendition, an unknown asset and a caller without access', async () => {
    const owner = await library.join('owner');
    const hidden = await upload(owner, bytes, { sensitivity: 'restricted' });
    const none = { status: 404, text: '{"error":"not found"}' };
    for (const path of [
      `${asset.id}/variants/page-1`,
      `${hidden.id}/variants/col`,
      `${hidden.id}/file`,
      `${hidden.id}/media`,
      `${crypto.randomUUID()}/variants/col`,
    ])
      expect(await mara.send(`/assets/${path}`)).toMatchObject(none);
  });
});
