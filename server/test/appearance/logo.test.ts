import { readdir } from 'node:fs/promises';
import { basePath } from '@vitrine/contract/operations';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { logoKey } from '../../src/platform/storage/object-key.ts';
import { type Account, type Library, objectPath, openLibrary, upload } from '../support/library.ts';
import {
  animatedGif,
  avif,
  emptyFile,
  gif,
  gifBomb,
  jpeg,
  plainText,
  png,
  pngBomb,
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
  hashOf,
  isStored,
  newLogo,
  newLogos,
  sendBytes,
  useBytes,
  useInTurn,
  whileBroken,
} from './logos.ts';

const uploading = ['POST', '/admin/system/appearance/logo'] as const;
const MiB = 1024 * 1024;

let library: Library;
let root: Account;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
});

beforeEach(async () => {
  await library.setPublicMode(false);
  await forgetLogos(library);
});

const own = (bytes: Buffer): Bytes => Uint8Array.from(bytes);

/** Returns a picture padded to exactly this many bytes; decoders ignore bytes after its end. */
async function padded(length: number): Promise<Bytes> {
  const bytes = new Uint8Array(length);
  bytes.set(await png(64, 48, 31));
  return bytes;
}

async function events() {
  return library.deps.db
    .selectFrom('audit_events')
    .select(['event', 'actor_user_ref', 'metadata'])
    .orderBy('occurred_at')
    .execute();
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

  test('stores the bytes once: no response contains image data', async () => {
    const { bytes } = await newLogo();
    await useBytes(root, bytes);
    const { text } = await root.send('/admin/system/appearance');
    expect(text.length).toBeLessThan(1000);
    expect(text).not.toContain('data:');
  });

  test('is audited with the hash', async () => {
    const { bytes, hash } = await newLogo();
    const before = (await events()).length;
    await useBytes(root, bytes);
    expect((await events()).slice(before)).toEqual([
      { event: 'appearance.logo.changed', actor_user_ref: root.ref, metadata: { hash } },
    ]);
  });

  test('leaves no temporary files', async () => {
    const { bytes, hash } = await newLogo();
    await useBytes(root, bytes);
    await useBytes(root, bytes);
    expect(await storedFiles()).toEqual([hash]);
  });

  // APPEARANCE-4
  test.each([
    ['PNG', 'image/png', () => png(64, 48)],
    ['JPEG', 'image/jpeg', () => jpeg(64, 48)],
    ['GIF', 'image/gif', () => gif(64, 48)],
    ['WebP', 'image/webp', () => webp(64, 48)],
  ])('takes a %s, and its MIME type by decoding, whatever it is called', async (_, mime, make) => {
    const bytes = await make();
    const names = [
      mime,
      'image/png',
      'image/jpeg',
      'image/svg+xml',
      'image/unheard-of',
      'image/png; charset=utf-8',
      'IMAGE/GIF',
      'application/octet-stream',
    ];
    for (const name of names) {
      await forgetLogos(library);
      const { status, text } = await sendBytes(library, root, uploading, bytes, name);
      expect([name, status]).toEqual([name, 200]);
      expect(JSON.parse(text)).toMatchObject({
        logo_width: 64,
        logo_height: 48,
        logo_history: [{ content_type: mime, width: 64, height: 48, size_bytes: bytes.length }],
      });
    }
    const served = await fetchBytes(library, addressOf(hashOf(bytes)));
    expect(served.headers.get('content-type')).toBe(mime);
  });

  // APPEARANCE-4
  test.each([
    [16, 16],
    [16, 1024],
    [1024, 16],
    [1024, 1024],
  ])('takes %i x %i pixels', async (width, height) => {
    const answer = await useBytes(root, await png(width, height));
    expect(answer).toMatchObject({ logo_width: width, logo_height: height });
  });

  const picture = 'a logo is a PNG, JPEG, GIF or WebP picture';
  const unreadable = 'the bytes cannot be read as a picture';
  const edges = (size: string) => `each edge of a logo has 16 to 1024 pixels, not ${size}`;
  test.each<[string, () => Promise<Bytes>, string]>([
    ['nothing', async () => emptyFile(), 'the body is empty'],
    ['an SVG', async () => svg(64, 48), picture],
    ['an AVIF', () => avif(64, 48), picture],
    ['a TIFF', () => tiff(64, 48), picture],
    ['a PDF', async () => own(Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj\n%%EOF\n')), unreadable],
    ['a text', async () => plainText(), unreadable],
    ['a page', async () => plainText('<!doctype html><script>alert(1)</script>'), unreadable],
    ['a picture cut short', truncatedJpeg, unreadable],
    ['a small picture cut short', async () => (await png(64, 48)).slice(0, 900), unreadable],
    ['the head of a picture alone', async () => (await png(64, 48)).slice(0, 33), unreadable],
    ['a GIF that moves', () => animatedGif(), 'a logo does not move'],
    ['a bomb of 20,000 frames of 65,535 x 65,535 pixels', async () => gifBomb(), 'a logo does not move'],
    ['a bomb of one such frame', async () => gifBomb(1), edges('65535 x 65535')],
    ['one pixel', () => png(1, 1), edges('1 x 1')],
    ['15 pixels of width', () => png(15, 64), edges('15 x 64')],
    ['15 pixels of height', () => png(64, 15), edges('64 x 15')],
    ['1025 pixels of width', () => png(1025, 64), edges('1025 x 64')],
    ['1025 pixels of height', () => png(64, 1025), edges('64 x 1025')],
    ['a bomb of 50,000 x 50,000 pixels', async () => pngBomb(), edges('50000 x 50000')],
    ['one byte more than 2 MiB', () => padded(2 * MiB + 1), 'a logo has at most 2 MiB'],
    ['3 MiB', () => padded(3 * MiB), 'a logo has at most 2 MiB'],
    ['3 MiB of nothing', async () => new Uint8Array(3 * MiB), 'a logo has at most 2 MiB'],
  ])('%s is 400, says which rule it breaks, and changes nothing', async (_, make, rule) => {
    const { bytes: current, hash } = await newLogo();
    await useBytes(root, current);
    const before = await root.ok('getAdminAppearance');
    const bytes = await make();
    for (const type of ['image/png', 'application/octet-stream']) {
      const body = new Blob([bytes], { type });
      expect(await root.refused('uploadLogo', { body })).toEqual({ status: 400, error: rule });
    }
    expect(await root.ok('getAdminAppearance')).toEqual(before);
    expect(await storedFiles()).toEqual([hash]);
  });

  // APPEARANCE-4
  test('accepts exactly 2 MiB', async () => {
    const bytes = await padded(2 * MiB);
    const answer = await useBytes(root, bytes);
    expect(answer.logo_history[0]?.size_bytes).toBe(2 * MiB);
    const served = await fetchBytes(library, addressOf(hashOf(bytes)));
    expect(hashOf(served.bytes)).toBe(hashOf(bytes));
  });

  test('answers 413 to 9 MiB without reading to the end', async () => {
    const refused = await sendBytes(library, root, uploading, new Uint8Array(9 * MiB), 'image/png');
    expect(refused.status).toBe(413);
    expect(JSON.parse(refused.text)).toEqual({ error: 'body too large' });
    expect((await root.ok('getAdminAppearance')).logo_history).toEqual([]);
  });

  test.each([
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'text/plain',
    'text/html',
    'application/pdf',
    'application/json',
    'video/mp4',
    null,
  ])('a picture as %s is 415', async (type) => {
    const { bytes } = await newLogo();
    expect((await sendBytes(library, root, uploading, bytes, type)).status).toBe(415);
    expect((await root.ok('getAdminAppearance')).logo_history).toEqual([]);
  });

  test('answers 415 to a form and to JSON', async () => {
    const { bytes, hash } = await newLogo();
    const form = new FormData();
    form.append('file', new Blob([bytes], { type: 'image/png' }), 'logo.png');
    expect((await root.send(uploading[1], { method: 'POST', body: form })).status).toBe(415);
    for (const body of [{ hash }, {}, '"data:image/png;base64,iVBORw0KGgo="']) {
      const answer = await root.send(uploading[1], { method: 'POST', body });
      expect([body, answer.status]).toEqual([body, 415]);
    }
  });

  test('answers 400 without a body', async () => {
    const answer = await root.send(uploading[1], { method: 'POST' });
    expect([answer.status, answer.text]).toEqual([400, '{"error":"the body is empty"}']);
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

describe('raw bytes at other operations', () => {
  test.each([
    ['POST', '/admin/system/appearance/logo/select'],
    ['DELETE', '/admin/system/appearance/logo'],
    ['PATCH', '/admin/system/site'],
    ['PUT', '/system/public-mode'],
    ['PATCH', '/account/preferences'],
    ['POST', '/posts'],
    ['POST', '/assets'],
    ['POST', '/auth/login'],
  ])('%s %s is 415', async (method, path) => {
    const { bytes } = await newLogo();
    for (const type of ['image/png', 'application/octet-stream']) {
      const { status, text } = await sendBytes(library, root, [method, path], bytes, type);
      expect([status, text]).toEqual([415, '{"error":"unsupported content type"}']);
    }
  });
});

// APPEARANCE-8
describe('GET /appearance/logo', () => {
  // APPEARANCE-8
  test.each([false, true])(
    'is for everybody, before they sign in, public mode on: %s',
    async (publicMode) => {
      await library.setPublicMode(publicMode);
      const { bytes, hash } = await newLogo();
      await useBytes(root, bytes);
      const { logo_url } = await library.anonymous().ok('getAppearance');
      for (const path of [logo_url ?? '', `${basePath}/appearance/logo`]) {
        const served = await fetchBytes(library, path);
        expect([path, served.status, hashOf(served.bytes)]).toEqual([path, 200, hash]);
      }
    },
  );

  test.each([
    ['PNG', () => png(64, 48)],
    ['JPEG with EXIF', () => jpeg(64, 48, { exif: { Artist: 'Somebody' } })],
    ['GIF', () => gif(64, 48)],
    ['WebP', () => webp(64, 48)],
  ])('answers the uploaded bytes of a %s unchanged', async (_, make) => {
    const bytes = await make();
    await useBytes(root, bytes);
    const served = await fetchBytes(library, addressOf(hashOf(bytes)));
    expect(Buffer.from(served.bytes).equals(Buffer.from(bytes))).toBe(true);
    expect(served.headers.get('content-length')).toBe(String(bytes.length));
  });

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
    const bytes = await png(64, 48, 5);
    const script = Buffer.from('<script>alert(1)</script>');
    const polyglot = own(Buffer.concat([bytes, script]));
    await useBytes(root, polyglot);
    for (const path of [addressOf(hashOf(polyglot)), `${basePath}/appearance/logo`]) {
      const { headers } = await fetchBytes(library, path);
      expect(headers.get('content-type')).toBe('image/png');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; frame-ancestors 'none'; sandbox",
      );
    }
  });

  test('serves each logo at its own address, earlier ones too', async () => {
    const [first, second] = [await newLogo(), await newLogo()];
    await useInTurn(root, [first, second]);
    expect((await root.ok('getAppearance')).logo_url).toBe(addressOf(second.hash));
    expect(hashOf((await fetchBytes(library, addressOf(first.hash))).bytes)).toBe(first.hash);
    expect(hashOf((await fetchBytes(library, `${basePath}/appearance/logo`)).bytes)).toBe(second.hash);
  });

  test('serves each entry of the history at its address', async () => {
    const logos = await newLogos(3);
    await useInTurn(root, logos);
    const { logo_history } = await root.ok('getAdminAppearance');
    expect(logo_history).toHaveLength(3);
    for (const { url, hash, content_type, size_bytes } of logo_history) {
      const served = await fetchBytes(library, url);
      expect([hashOf(served.bytes), served.bytes.length]).toEqual([hash, size_bytes]);
      expect(served.headers.get('content-type')).toBe(content_type);
    }
  });

  test('is 404 for the default mark and for unknown hashes', async () => {
    const visitor = library.anonymous();
    expect((await visitor.refused('getLogo')).status).toBe(404);
    expect((await visitor.refused('getLogo', { query: { v: '0'.repeat(64) } })).status).toBe(404);
    await useBytes(root, (await newLogo()).bytes);
    expect((await visitor.refused('getLogo', { query: { v: '0'.repeat(64) } })).status).toBe(404);
  });

  test('serves no other bytes of the library', async () => {
    const asset = await upload(root, await jpeg(64, 48, { seed: 77 }));
    const refused = await library.anonymous().refused('getLogo', { query: { v: asset.file_hash ?? '' } });
    expect(refused).toEqual({ status: 404, error: 'not found' });
  });

  test('answers 400 to a repeated `v` and ignores unknown parameters', async () => {
    const { bytes, hash } = await newLogo();
    await useBytes(root, bytes);
    const twice = await library.anonymous().send(`/appearance/logo?v=${hash}&v=${hash}`);
    expect(twice.status).toBe(400);
    const more = await fetchBytes(library, `${addressOf(hash)}&size=5`);
    expect(hashOf(more.bytes)).toBe(hash);
  });

  test('answers HEAD with the same headers', async () => {
    const { bytes, hash } = await newLogo();
    await useBytes(root, bytes);
    const response = await fetch(library.address + addressOf(hash), { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect((await response.arrayBuffer()).byteLength).toBe(0);
  });

  test('is 404 when its file is missing', async () => {
    const { bytes, hash } = await newLogo();
    await useBytes(root, bytes);
    await library.deps.storage.delete(logoKey(hash));
    expect(await isStored(library, hash)).toBe(false);
    for (const query of [{}, { v: hash }]) {
      expect(await library.anonymous().refused('getLogo', { query })).toEqual({
        status: 404,
        error: 'not found',
      });
    }
    expect(hashesOf(await root.ok('getAdminAppearance'))).toEqual([hash]);
  });
});
