import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import {
  type BucketService,
  namedService,
  openBucket,
  startService,
  type TestBucket,
} from '../support/bucket.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

const large = Buffer.alloc(1024 * 1024, 'large file ');
const token = (url: string) => url.split('/').at(-1) ?? '';

let service: BucketService;
let bucket: TestBucket;
let library: Library;
let mara: Account;

beforeAll(async () => {
  service = namedService ?? (await startService());
  bucket = await openBucket(service);
  library = await openLibrary({ ...bucket.env, VITRINE_S3_REDIRECT_SECONDS: '300' });
  mara = await library.join('mara');
});

afterAll(async () => {
  await bucket.close();
  await service.stop();
});

function ask(as: Account | null, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...(as === null ? {} : { cookie: `user=${as.cookie()}` }), ...init.headers };
  return fetch(`${library.address}/api/v1${path}`, { redirect: 'manual', ...init, headers });
}

// FILE-11
describe('with VITRINE_S3_REDIRECT_SECONDS', () => {
  test('a large download is redirected to an address of the bucket with the name and the bytes', async () => {
    const asset = await upload(mara, large, { sensitivity: 'restricted' }, 'größe "1".bin');
    const answer = await ask(mara, `/assets/${asset.id}/file?download=true`);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'private, no-store']);
    expect(answer.headers.get('set-cookie')).toBeNull();
    const location = answer.headers.get('location') ?? '';
    expect(location).toContain(originalKey(asset.file_hash ?? ''));
    expect(new URL(location).searchParams.get('X-Amz-Expires')).toBe('300');
    const bytes = await fetch(location);
    expect(bytes.status).toBe(200);
    // The service from npm ignores the response headers that an address requests.
    const asked = new URL(location).searchParams;
    const got = (name: string) =>
      service === namedService ? bytes.headers.get(name) : asked.get(`response-${name}`);
    expect(got('content-disposition')).toMatch(/^attachment; filename="gr__e _1_.bin"; filename\*=/);
    expect(got('content-type')).toBe('text/plain');
    expect(Buffer.from(await bytes.arrayBuffer()).equals(large)).toBe(true);
    const part = await fetch(location, { headers: { range: 'bytes=0-4' } });
    expect([part.status, await part.text()]).toEqual([206, 'large']);
  });

  test('a link redirects its downloads too, and nothing once it is revoked', async () => {
    const asset = await upload(mara, large, {}, 'link.bin');
    const link = await mara.ok('createAssetLink', {
      params: { id: asset.id },
      body: { allow_download: true },
    });
    const path = `/links/${token(link.url)}/assets/${asset.id}/file?download=true`;
    const answer = await ask(null, path);
    expect(answer.status).toBe(302);
    expect((await fetch(answer.headers.get('location') ?? '')).status).toBe(200);
    await mara.ok('revokeLink', { params: { link: link.id } });
    expect((await ask(null, path)).status).not.toBe(302);
  });

  test('views, headers, ranges of views, current copies and small files come from the service', async () => {
    const asset = await upload(mara, large, {}, 'view.bin');
    const small = await upload(mara, plainFile('small'), {}, 'small.bin');
    const path = `/assets/${asset.id}/file`;
    const statuses = await Promise.all([
      ask(mara, path),
      ask(mara, path, { headers: { range: 'bytes=0-4' } }),
      ask(mara, `${path}?download=true`, { method: 'HEAD' }),
      ask(mara, `${path}?download=true`, { headers: { 'if-none-match': `"${asset.file_hash}"` } }),
      ask(mara, `/assets/${small.id}/file?download=true`),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([200, 206, 200, 304, 200]);
  });

  test('no access is the same 404 as no asset, and a missing object is no redirect', async () => {
    const stranger = await library.join('stranger');
    const hidden = await upload(mara, Buffer.alloc(large.length, 'hidden'), { sensitivity: 'restricted' });
    expect((await ask(stranger, `/assets/${hidden.id}/file?download=true`)).status).toBe(404);
    expect((await ask(null, `/assets/${hidden.id}/file?download=true`)).status).not.toBe(302);
    await library.deps.storage.delete(originalKey(hidden.file_hash ?? ''));
    expect((await ask(mara, `/assets/${hidden.id}/file?download=true`)).status).toBe(500);
  });

  test('clients get the public address of the bucket', async () => {
    const asset = await upload(mara, large, {}, 'public.bin');
    const VITRINE_S3_PUBLIC_ENDPOINT = 'https://files.example.org';
    const { storage } = (
      await openLibrary({ ...bucket.env, VITRINE_S3_REDIRECT_SECONDS: '60', VITRINE_S3_PUBLIC_ENDPOINT })
    ).deps;
    const headers = { type: 'text/plain', disposition: 'attachment' };
    const address = await storage.addressOf(originalKey(asset.file_hash ?? ''), large.length, headers);
    expect(address).toMatch(/^https:\/\/files\.example\.org\//);
  });
});
