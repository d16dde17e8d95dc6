import type { ShownAsset } from '@vitrine/contract/assets';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { jpeg, plainText, svg } from '../support/pictures.ts';

let library: Library;
let mara: Account;
let bytes: Uint8Array<ArrayBuffer>;
let asset: ShownAsset;

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('mara');
  bytes = await jpeg(1200, 800);
  asset = await upload(mara, bytes);
  await library.runJobs();
});

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${library.address}/api/v1${path}`, {
    headers: { ...headers, cookie: `user=${mara.cookie()}` },
  });
  return {
    status: response.status,
    headers: response.headers,
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

// FILE-1
describe('GET /assets/{id}/file', () => {
  // FILE-1
  test('returns exactly the bytes that were uploaded', async () => {
    const sent = await get(`/assets/${asset.id}/file`);
    expect(sent.status).toBe(200);
    expect(Buffer.from(sent.body).equals(Buffer.from(bytes))).toBe(true);
    expect(sent.headers.get('etag')).toBe(`"${asset.file_hash}"`);
    expect(sent.headers.get('content-type')).toBe('image/jpeg');
    expect(sent.headers.get('content-length')).toBe(String(bytes.length));
    expect(sent.headers.get('x-content-type-options')).toBe('nosniff');
  });

  // FILE-1
  test.each([
    ['bytes=0-99', 0, 100],
    ['bytes=100-', 100, null],
    ['bytes=-50', -50, null],
    ['bytes=10-99999999', 10, null],
    ['BYTES=0-99', 0, 100],
  ])('returns 206 for Range %s', async (range, start, end) => {
    const sent = await get(`/assets/${asset.id}/file`, { range });
    const want = end === null ? bytes.slice(start) : bytes.slice(start, end);
    expect(sent.status).toBe(206);
    expect(Buffer.from(sent.body).equals(Buffer.from(want))).toBe(true);
    const from = start < 0 ? bytes.length + start : start;
    expect(sent.headers.get('content-range')).toBe(`bytes ${from}-${from + want.length - 1}/${bytes.length}`);
  });

  // FILE-1
  test('returns 416 with the size for a range beyond the end', async () => {
    const sent = await get(`/assets/${asset.id}/file`, { range: `bytes=${bytes.length}-` });
    expect(sent.status).toBe(416);
    expect(sent.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
  });

  test.each(['bytes=abc', 'lines=0-1', 'bytes=5-2', 'bytes=0-1,4-5'])(
    'ignores the range %s',
    async (range) => {
      expect((await get(`/assets/${asset.id}/file`, { range })).status).toBe(200);
    },
  );

  // HTTP-21
  test('returns a range only if If-Range matches the current bytes', async () => {
    const etag = `"${asset.file_hash}"`;
    const statusWith = async (ifRange: string, path: string) =>
      (await get(`/assets/${asset.id}/${path}`, { range: 'bytes=0-9', 'if-range': ifRange })).status;
    expect(await statusWith(etag, 'file')).toBe(206);
    for (const other of ['"other"', `W/${etag}`, new Date().toUTCString()]) {
      expect([other, await statusWith(other, 'file')]).toEqual([other, 200]);
      expect([other, await statusWith(other, 'variants/col')]).toEqual([other, 200]);
    }
  });

  // FILE-1
  test('returns 304 if the client has the bytes', async () => {
    const sent = await get(`/assets/${asset.id}/file`, { 'if-none-match': `"x", "${asset.file_hash}"` });
    expect(sent.status).toBe(304);
    expect(sent.body).toHaveLength(0);
  });

  // FILE-4
  test('is cacheable forever only at the URL with the hash, and never by shared caches', async () => {
    const plain = (await get(`/assets/${asset.id}/file`)).headers.get('cache-control');
    const named = (await get(`/assets/${asset.id}/file?v=${asset.file_hash}`)).headers.get('cache-control');
    const wrong = (await get(`/assets/${asset.id}/file?v=other`)).headers.get('cache-control');
    expect([plain, named, wrong]).toEqual([
      'private, no-cache',
      'private, max-age=31536000, immutable',
      'private, no-cache',
    ]);
  });

  // FILE-2
  test('displays pictures inline, and sends content that a browser could run as a download', async () => {
    const drawing = await upload(mara, svg(100, 100), {}, 'drawing.svg');
    const page = await upload(mara, plainText('<!doctype html><script>alert(1)</script>'), {}, 'page.html');
    const kinds = await Promise.all(
      [asset, drawing, page].map(async ({ id }) => {
        const { headers } = await get(`/assets/${id}/file`);
        expect(headers.get('content-security-policy')).toContain('sandbox');
        return headers.get('content-disposition')?.split(';')[0];
      }),
    );
    expect(kinds).toEqual(['inline', 'attachment', 'attachment']);
    const download = await get(`/assets/${asset.id}/file?download=true`);
    expect(download.headers.get('content-disposition')).toMatch(/^attachment/);
  });

  test('returns the same headers for HEAD, without the bytes', async () => {
    const response = await fetch(`${library.address}/api/v1/assets/${asset.id}/file`, {
      method: 'HEAD',
      headers: { cookie: `user=${mara.cookie()}` },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
  });
});

describe('GET /assets/{id}/variants/{key}', () => {
  // MEDIA-3
  test('returns every size of the ladder as WebP', async () => {
    const { variants } = await mara.ok('getPreviews');
    expect(variants.map(({ key, fit, max_dim }) => [key, fit, max_dim])).toEqual([
      ['col', 'cover', 320],
      ['preview', 'contain', 1024],
      ['screen', 'contain', 2048],
      ['hires', 'contain', 4096],
    ]);
    for (const { key } of variants) {
      const sent = await get(`/assets/${asset.id}/variants/${key}`);
      expect([key, sent.status, sent.headers.get('content-type')]).toEqual([key, 200, 'image/webp']);
    }
  });

  // FILE-3
  test('returns the same 404 for an unknown rendition, an unknown asset and a caller without access', async () => {
    const hidden = await upload(await library.join('owner'), await jpeg(90, 90), {
      sensitivity: 'restricted',
    });
    await library.runJobs();
    const answers = await Promise.all(
      [
        `/assets/${asset.id}/variants/page-1`,
        `/assets/${hidden.id}/variants/col`,
        `/assets/${hidden.id}/file`,
        `/assets/${crypto.randomUUID()}/variants/col`,
      ].map(async (path) => {
        const { status, text } = await mara.send(path);
        return { status, text };
      }),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify({ status: 404, text: '{"error":"not found"}' })]),
    );
  });
});
