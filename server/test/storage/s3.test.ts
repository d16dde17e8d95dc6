import { randomBytes, randomUUID } from 'node:crypto';
import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sayError } from '../../src/platform/language/sentence.ts';
import { openDiskStorage } from '../../src/platform/storage/disk.ts';
import { openS3Storage } from '../../src/platform/storage/s3.ts';
import { openBucket as openBucketClient } from '../../src/platform/storage/s3-bucket.ts';
import {
  type ByteRange,
  DamagedObject,
  NoSuchObject,
  type Storage,
  StorageUnavailable,
} from '../../src/platform/storage/storage.ts';
import {
  type BucketService,
  namedService,
  openBucket,
  startService,
  type TestBucket,
} from '../support/bucket.ts';
import { startUnruly } from '../support/encoder.ts';
import { sha256 } from '../support/pictures.ts';

const MIB = 1024 * 1024;

const services: [name: string, BucketService | null][] = [
  ['the service from npm', await startService()],
  ['the service named by TEST_S3_ENDPOINT (skipped without one)', namedService],
];

// STORAGE-1
for (const [name, service] of services) {
  describe.skipIf(service === null)(`a bucket of ${name}`, () => {
    let bucket: TestBucket;
    let directory: string;
    let local: Storage;
    let storage: Storage;

    beforeAll(async () => {
      if (service === null) return;
      bucket = await openBucket(service, 'studio/files/');
      directory = await mkdtemp(join(tmpdir(), 'vitrine-s3-'));
      local = await openDiskStorage(directory, 0);
      storage = openS3Storage(bucket.settings, local);
    });

    afterAll(async () => {
      await bucket.close();
      await service?.stop();
      await rm(directory, { recursive: true, force: true });
    });

    beforeEach(() => {
      bucket.setFault('none');
      bucket.requests.length = 0;
    });

    const uploads = () => bucket.requests.filter((request) => /^(PUT|POST) /.test(request));

    async function file(bytes: Uint8Array): Promise<string> {
      const path = join(local.incomingDir, randomUUID());
      await writeFile(path, bytes);
      return path;
    }

    async function stored(bytes: Uint8Array, key = `originals/aa/bb/${sha256(bytes)}`): Promise<string> {
      await storage.adopt(await file(bytes), key);
      return key;
    }

    async function bytesOf(key: string, size: number, range?: ByteRange): Promise<Buffer> {
      return Buffer.concat(await Array.fromAsync(await storage.get(key, size, range)));
    }

    test.each([0, 1, 100_000])('stores and returns %i bytes, and removes the local file', async (size) => {
      const bytes = randomBytes(size);
      const key = await stored(bytes);
      expect((await bytesOf(key, size)).equals(bytes)).toBe(true);
      expect(await storage.head(key)).toMatchObject({ key, sizeBytes: size });
      expect(await readdir(local.incomingDir)).toEqual([]);
      await storage.delete(key);
      await storage.delete(key);
      expect(await storage.head(key)).toBeNull();
      await expect(storage.get(key, size)).rejects.toThrow(NoSuchObject);
      await expect(storage.withLocalFile(key, readFile)).rejects.toThrow(NoSuchObject);
    });

    test('sends large files in parts, and skips bytes that are already stored', async () => {
      const bytes = randomBytes(8 * MIB + 7);
      const key = await stored(bytes);
      expect(uploads().filter((request) => request.includes('partNumber=')).length).toBe(2);
      expect(sha256(await bytesOf(key, bytes.length))).toBe(sha256(bytes));
      const range = { start: 8 * MIB - 3, end: 8 * MIB + 3 };
      expect(
        (await bytesOf(key, bytes.length, range)).equals(bytes.subarray(range.start, range.end + 1)),
      ).toBe(true);
      bucket.requests.length = 0;
      await stored(bytes);
      expect(uploads()).toEqual([]);
    });

    test('reports objects that have another size as damaged', async () => {
      const key = await stored(randomBytes(50));
      await expect(storage.get(key, 51)).rejects.toThrow(DamagedObject);
      await expect(storage.get(key, 51, { start: 10, end: 20 })).rejects.toThrow(DamagedObject);
      await expect(storage.get(key, 200, { start: 100, end: 120 })).rejects.toThrow(DamagedObject);
    });

    test('replaces an object whose content differs, even with the same size', async () => {
      const key = 'renditions/aa/bb/cc/preview.webp';
      await stored(Buffer.from('damaged'), key);
      await stored(Buffer.from('correct'), key);
      expect((await bytesOf(key, 7)).toString()).toBe('correct');
    });

    test('sends a staged file once, and again when it is removed before it is adopted', async () => {
      const key = 'logos/staged';
      const path = await file(Buffer.from('a staged file'));
      await storage.stage(path, key);
      await storage.stage(path, key);
      expect(uploads()).toHaveLength(1);
      await storage.delete(key);
      await storage.adopt(path, key);
      expect(uploads()).toHaveLength(2);
      expect((await bytesOf(key, 13)).toString()).toBe('a staged file');
      await expect(access(path)).rejects.toThrow();
    });

    test('takes the same bytes from several processes at once', async () => {
      const bytes = randomBytes(8 * MIB + 1);
      const key = `originals/aa/bb/${sha256(bytes)}`;
      const others = Array.from({ length: 2 }, () => openS3Storage(bucket.settings, local));
      const paths = await Promise.all(others.map(() => file(bytes)));
      await Promise.all(others.map((one, n) => one.adopt(paths[n] ?? '', key)));
      expect(sha256(await bytesOf(key, bytes.length))).toBe(sha256(bytes));
    });

    test('shares one local copy between concurrent readers, and removes it', async () => {
      const bytes = randomBytes(30_000);
      const key = await stored(bytes);
      bucket.requests.length = 0;
      const read = () => storage.withLocalFile(key, async (path) => [path, sha256(await readFile(path))]);
      const both = await Promise.all([read(), read()]);
      expect(both[0]).toEqual(both[1]);
      expect(both[0]?.[1]).toBe(sha256(bytes));
      expect(bucket.requests).toHaveLength(1);
      expect(await readdir(local.incomingDir)).toEqual([]);
    });

    test('lists the objects below a folder, without the prefix of the bucket', async () => {
      for (const name of ['b/1', 'b/2', 'bc/3']) await stored(Buffer.from(name), `subtitles/${name}`);
      const keys = await Array.fromAsync(storage.list('subtitles/b'), ({ key }) => key);
      expect(keys).toEqual(['subtitles/b/1', 'subtitles/b/2']);
    });

    test.each([
      ['third', 8 * MIB + 1],
      ['slow', 100_000],
      ['truncated-once', MIB],
    ] as const)('works on a service with the fault %s', async (fault, size) => {
      bucket.setFault(fault);
      const bytes = randomBytes(size);
      const key = await stored(bytes);
      expect(sha256(await bytesOf(key, bytes.length))).toBe(sha256(bytes));
      expect(await storage.withLocalFile(key, async (path) => sha256(await readFile(path)))).toBe(
        sha256(bytes),
      );
    });

    test.each(['gone', 'denied'] as const)('says that a %s service is not available', async (fault) => {
      const key = await stored(Buffer.from('kept'));
      const path = await file(Buffer.from('new'));
      bucket.setFault(fault);
      const attempts = [
        storage.adopt(path, 'logos/new'),
        storage.get(key, 4),
        storage.head(key),
        storage.withLocalFile(key, readFile),
        storage.delete(key),
        storage.checkReady(),
        storage.list('logos')[Symbol.asyncIterator]().next(),
      ];
      for (const attempt of await Promise.allSettled(attempts)) {
        if (attempt.status === 'fulfilled') throw new Error('an attempt succeeded');
        expect(attempt.reason).toBeInstanceOf(StorageUnavailable);
        // LANGUAGE-8
        expect(sayError('de', attempt.reason)).toMatch(
          fault === 'denied' ? /: der Zugriff wird verweigert \(„/ : /: die Verbindung brach ab \(„/,
        );
        expect(JSON.stringify([attempt.reason, attempt.reason.stack, String(attempt.reason)])).not.toContain(
          bucket.settings.secretAccessKey,
        );
      }
      // Nothing is lost: the local file remains and can be sent later.
      bucket.setFault('none');
      expect(await storage.head('logos/new')).toBeNull();
      await storage.adopt(path, 'logos/new');
      expect((await bytesOf('logos/new', 3)).toString()).toBe('new');
      await storage.delete('logos/new');
    });

    test('fails a read that stays truncated', async () => {
      const bytes = randomBytes(100_000);
      const key = await stored(bytes);
      bucket.setFault('truncated');
      await expect(bytesOf(key, bytes.length)).rejects.toThrow(StorageUnavailable);
    });

    test('removes parts of large files that were abandoned, but not those that may still be being sent', async () => {
      await bucket.abandon('studio/files/originals/abandoned');
      await bucket.abandon('elsewhere/abandoned');
      const soon = Date.now() + 60_000;
      expect(await storage.removeUnfinished(soon)).toBe(0);
      const impatient = openS3Storage(bucket.settings, local, { sendingMs: -60_000 });
      const hasList = (await bucket.unfinished()) !== null;
      expect(await impatient.removeUnfinished(soon)).toBe(hasList ? 1 : 0);
      if (hasList) expect(await bucket.unfinished()).toEqual(['elsewhere/abandoned']);
    });

    test('a large file that breaks off leaves neither an object nor parts', async () => {
      const bytes = randomBytes(8 * MIB + 1);
      const key = `originals/aa/bb/${sha256(bytes)}`;
      const path = await file(bytes);
      bucket.setFault('no-parts');
      await expect(storage.adopt(path, key)).rejects.toThrow(StorageUnavailable);
      bucket.setFault('none');
      expect(await storage.head(key)).toBeNull();
      expect((await bucket.unfinished()) ?? []).not.toContain(`studio/files/${key}`);
      expect(bucket.requests.filter((request) => request.startsWith('DELETE '))).toHaveLength(1);
      await storage.adopt(path, key);
    });
  });
}

// Some services ignore `?uploads` and send the list of objects.
test('looks for abandoned parts of large files in a service that answers with a page of objects', async () => {
  const page = '<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>';
  const service = await startUnruly((_, response) => response.end(page));
  const settings = {
    endpoint: service.address,
    region: 'us-east-1',
    bucket: 'studio',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
    prefix: '',
    forcePathStyle: true,
    writes: true,
    redirectSeconds: 0,
    publicEndpoint: null,
  };
  expect(await openBucketClient(settings).removeUnfinished(Date.now())).toBe(0);
  await service.stop();
});
