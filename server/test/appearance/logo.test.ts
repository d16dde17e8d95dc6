// @module-tag disk
import { readdir } from 'node:fs/promises';
import { basePath } from '@vitrine/contract/operations';
import { beforeEach, describe, expect, test } from 'vitest';
import { logoKey } from '../../src/platform/storage/object-key.ts';
import { auditEventsDuring } from '../support/audit.ts';
import { objectPath, openLibrary, upload } from '../support/library.ts';
import {
  animatedGif,
  avif,
  emptyFile,
  gif,
  gifBomb,
  jpeg,
  plainFile,
  plainText,
  png,
  pngBomb,
  sha256,
  svg,
  tiff,
  truncatedJpeg,
  webp,
} from '../support/pictures.ts';
import {
  addressOf,
  type Bytes,
  fetchBytes,
  forgetLogos,
  hashesOf,
  newLogo,
  useBytes,
  whileBroken,
} from './logos.ts';

const MiB = 1024 * 1024;

const library = await openLibrary();
const root = await library.join('root', 'admin');

beforeEach(async () => {
  await library.setPublicMode(false);
  await forgetLogos(library);
});

/** Uploads bytes as a logo with this content type; null sends none. */
async function sendBytes(bytes: Bytes, type: string | null) {
  const headers = new Headers({ cookie: `user=${root.cookie()}` });
  if (type !== null) headers.set('content-type', type);
  const url = `${library.address}${basePath}/admin/system/appearance/logo`;
  const response = await fetch(url, { method: 'POST', headers, body: bytes });
  return { status: response.status, text: await response.text() };
}

/** Returns a picture padded to exactly this many bytes; decoders ignore bytes after its end. */
async function padded(length: number): Promise<Bytes> {
  const bytes = new Uint8Array(length);
  bytes.set(await png(64, 48, 31));
  return bytes;
}

/** Returns all files of the library, including incoming ones. */
async function storedFiles(): Promise<string[]> {
  const root = objectPath(library, '');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

// APPEARANCE-4
describe('POST /admin/system/appearance/logo', () => {
  test('uses the bytes as the logo and returns the configuration', async () => {
    const { bytes, hash } = await newLogo(120, 40);
    const answer = await useBytes(root, bytes);
    expect(answer).toMatchObject({ logo_url: addressOf(hash), logo_width: 120, logo_height: 40 });
    expect(answer.logo_history).toEqual([
      {
        hash,
        url: addressOf(hash),
        content_type: 'image/png',
        width: 120,
        height: 40,
        size_bytes: bytes.length,
        available: true,
        active: true,
      },
    ]);
    expect(await root.ok('getAdminAppearance')).toEqual(answer);
    expect((await library.anonymous().ok('getAppearance')).logo_url).toBe(addressOf(hash));
  });

  test('is audited with the hash, and leaves no temporary files', async () => {
    const { bytes, hash } = await newLogo();
    const use = () => useBytes(root, bytes);
    expect(await auditEventsDuring(library, use)).toMatchObject([
      { event: 'appearance.logo.changed', actor_user_ref: root.ref, metadata: { hash } },
    ]);
    await use();
    expect(await storedFiles()).toEqual([hash]);
  });

  // APPEARANCE-4
  test('takes PNG, JPEG, GIF and WebP, with the type by decoding, and serves the bytes unchanged', async () => {
    const pictures = {
      'image/png': await png(64, 48),
      'image/jpeg': await jpeg(64, 48, { exif: { Artist: 'Somebody' } }),
      'image/gif': await gif(64, 48),
      'image/webp': await webp(64, 48),
    };
    const names = ['image/png; charset=utf-8', 'image/unheard-of', 'IMAGE/GIF', 'application/octet-stream'];
    for (const [at, [content_type, bytes]] of Object.entries(pictures).entries()) {
      for (const name of [content_type, names[at] ?? '']) {
        await forgetLogos(library);
        const { status, text } = await sendBytes(bytes, name);
        expect([content_type, name, status]).toEqual([content_type, name, 200]);
        expect(JSON.parse(text).logo_history).toMatchObject([
          { content_type, width: 64, height: 48, size_bytes: bytes.length },
        ]);
      }
      const served = await fetchBytes(library, addressOf(sha256(bytes)));
      expect(served.headers.get('content-type')).toBe(content_type);
      expect(served.headers.get('content-length')).toBe(String(bytes.length));
      expect(Buffer.from(served.bytes).equals(Buffer.from(bytes))).toBe(true);
    }
  });

  // APPEARANCE-4
  test('takes edges of 16 to 1024 pixels and exactly 2 MiB', async () => {
    expect(await useBytes(root, await png(16, 1024))).toMatchObject({ logo_width: 16, logo_height: 1024 });
    expect(await useBytes(root, await png(1024, 16))).toMatchObject({ logo_width: 1024, logo_height: 16 });
    const bytes = await padded(2 * MiB);
    expect((await useBytes(root, bytes)).logo_history[0]?.size_bytes).toBe(2 * MiB);
    expect(sha256((await fetchBytes(library, addressOf(sha256(bytes)))).bytes)).toBe(sha256(bytes));
  });

  const picture = 'a logo is a PNG, JPEG, GIF or WebP picture';
  const unreadable = 'the bytes cannot be read as a picture';
  const edges = (size: string) => `each edge of a logo has 16 to 1024 pixels, not ${size}`;
  const refused: [string, () => Promise<Bytes>, string][] = [
    ['nothing', async () => emptyFile(), 'the body is empty'],
    ['an SVG', async () => svg(64, 48), picture],
    ['an AVIF', () => avif(64, 48), picture],
    ['a TIFF', () => tiff(64, 48), picture],
    ['a PDF', async () => plainText('%PDF-1.4\n1 0 obj<<>>endobj\n%%EOF\n'), unreadable],
    ['a page', async () => plainText('<!doctype html><script>alert(1)</script>'), unreadable],
    ['a picture cut short', truncatedJpeg, unreadable],
    ['the head of a picture alone', async () => (await png(64, 48)).slice(0, 33), unreadable],
    ['an animated GIF', () => animatedGif(), 'a logo must not be animated'],
    [
      'a bomb of 20,000 frames of 65,535 x 65,535 pixels',
      async () => gifBomb(),
      'a logo must not be animated',
    ],
    ['a bomb of one such frame', async () => gifBomb(1), edges('65535 x 65535')],
    ['15 pixels of width', () => png(15, 64), edges('15 x 64')],
    ['1025 pixels of height', () => png(64, 1025), edges('64 x 1025')],
    ['a bomb of 50,000 x 50,000 pixels', async () => pngBomb(), edges('50000 x 50000')],
    ['one byte more than 2 MiB', () => padded(2 * MiB + 1), 'a logo has at most 2 MiB'],
  ];
  // APPEARANCE-4
  test('refuses other pictures with 400, says which rule they break, and changes nothing', async () => {
    const { bytes: current, hash } = await newLogo();
    await useBytes(root, current);
    const before = await root.ok('getAdminAppearance');
    for (const [what, make, rule] of refused) {
      const body = new Blob([await make()], { type: 'image/png' });
      const { status, error } = await root.refused('uploadLogo', { body });
      expect([what, status, error]).toEqual([what, 400, rule]);
    }
    expect(await root.ok('getAdminAppearance')).toEqual(before);
    expect(await storedFiles()).toEqual([hash]);
  });

  test('answers 413 to 9 MiB without reading to the end', async () => {
    const refused = await sendBytes(new Uint8Array(9 * MiB), 'image/png');
    expect([refused.status, refused.text]).toEqual([413, '{"error":"body too large"}']);
  });

  // APPEARANCE-4, HTTP-15
  test('decoding decides, not the content type; only a form and JSON are 415', async () => {
    const { bytes } = await newLogo();
    for (const type of ['multipart/form-data; boundary=x', 'application/json'])
      expect([type, (await sendBytes(bytes, type)).status]).toEqual([type, 415]);
    expect((await root.ok('getAdminAppearance')).logo_history).toEqual([]);
    const svg = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"/>');
    for (const type of ['text/html', 'application/x-www-form-urlencoded', 'video/mp4', null]) {
      expect([type, (await sendBytes(bytes, type)).status]).toEqual([type, 200]);
      expect([type, (await sendBytes(svg, type)).status]).toEqual([type, 400]);
    }
  });

  test('keeps the previous logo when storing fails, and can be retried', async () => {
    const [current, next] = [await newLogo(), await newLogo()];
    await useBytes(root, current.bytes);
    const before = await root.ok('getAdminAppearance');
    await whileBroken(library, async () => {
      const body = new Blob([next.bytes], { type: 'image/png' });
      expect(await root.refused('uploadLogo', { body })).toEqual({ status: 500, error: 'server error' });
    });
    expect(await root.ok('getAdminAppearance')).toEqual(before);
    expect((await useBytes(root, next.bytes)).logo_url).toBe(addressOf(next.hash));
  });
});

// APPEARANCE-8
describe('GET /appearance/logo', () => {
  // APPEARANCE-8
  test('is immutable with `v` and revalidated without', async () => {
    const { bytes, hash } = await newLogo();
    await useBytes(root, bytes);
    const immutable = await fetchBytes(library, addressOf(hash));
    expect(immutable.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(immutable.headers.get('etag')).toBe(`"${hash}"`);
    const plain = await fetchBytes(library, `${basePath}/appearance/logo`);
    expect(plain.headers.get('cache-control')).toBe('no-cache');
    expect(immutable.headers.get('set-cookie')).toBeNull();
  });

  test('answers 304 until the logo changes', async () => {
    const [first, second] = [await newLogo(), await newLogo()];
    await useBytes(root, first.bytes);
    const ask = async (etag: string, query = '') => {
      const headers = { 'if-none-match': etag };
      const { status, text, headers: sent } = await root.send(`/appearance/logo${query}`, { headers });
      return { status, bytes: text.length, etag: sent.get('etag') };
    };
    const [etag, current] = [`"${first.hash}"`, `?v=${first.hash}`];
    for (const held of [etag, `W/${etag}`, `"x", ${etag}`, '*'])
      expect(await ask(held)).toEqual({ status: 304, bytes: 0, etag });
    expect((await ask(etag, current)).status).toBe(304);
    expect((await ask('"x"')).status).toBe(200);
    await useBytes(root, second.bytes);
    expect(await ask(etag)).toMatchObject({ status: 200, etag: `"${second.hash}"` });
    expect((await ask(etag, current)).status).toBe(304);
    await root.ok('revertLogo');
    expect((await ask(etag)).status).toBe(404);
  });

  // APPEARANCE-8
  test('carries nosniff and a sandbox', async () => {
    const script = plainText('<script>alert(1)</script>');
    const polyglot = Uint8Array.from(Buffer.concat([await png(64, 48, 5), script]));
    await useBytes(root, polyglot);
    for (const path of [addressOf(sha256(polyglot)), `${basePath}/appearance/logo`]) {
      const { headers } = await fetchBytes(library, path);
      expect(headers.get('content-type')).toBe('image/png');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; frame-ancestors 'none'; sandbox",
      );
    }
  });

  test('is 404 for the default mark, unknown hashes, other bytes of the library and a missing file', async () => {
    const asset = await upload(root, plainFile());
    const missing = { status: 404, error: 'not found' };
    const visitor = library.anonymous();
    expect(await visitor.refused('getLogo')).toEqual(missing);
    const { bytes, hash } = await newLogo();
    await useBytes(root, bytes);
    for (const v of ['0'.repeat(64), asset.file_hash ?? ''])
      expect(await visitor.refused('getLogo', { query: { v } })).toEqual(missing);
    await library.deps.storage.delete(logoKey(hash));
    for (const query of [{}, { v: hash }])
      expect(await visitor.refused('getLogo', { query })).toEqual(missing);
    expect(hashesOf(await root.ok('getAdminAppearance'))).toEqual([hash]);
  });
});
