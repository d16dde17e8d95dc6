import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDiskStorage } from '../../src/platform/storage/disk.ts';
import { openSmallObjects } from '../../src/platform/storage/small-objects.ts';
import { DamagedObject, NoSuchObject, type Storage } from '../../src/platform/storage/storage.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** The keys read from the disk. */
let reads: string[] = [];

const directory = await temporaryDirectory();
const disk = await openDiskStorage(directory, 0);
const storage: Storage = {
  ...disk,
  get(key, sizeBytes, range) {
    reads.push(key);
    return disk.get(key, sizeBytes, range);
  },
};

async function object(key: string, text: string): Promise<string> {
  await writeFile(join(directory, key), text);
  return key;
}

// FILE-10
test('reads an object once for many requests', async () => {
  reads = [];
  const small = openSmallObjects(storage);
  const key = await object('once', 'hello');
  const sent = await Promise.all([small.read(key, 5), small.read(key, 5)]);
  sent.push(await small.read(key, 5));
  expect(sent.map(String)).toEqual(['hello', 'hello', 'hello']);
  expect(reads).toEqual(['once']);
});

test('reads an object again after five seconds, or if it has another size', async () => {
  let milliseconds = 0;
  const small = openSmallObjects(storage, { now: () => milliseconds });
  const key = await object('replaced', 'old!');
  const read = async (size: number) => String(await small.read(key, size));
  expect(await read(4)).toBe('old!');
  await object(key, 'new!');
  milliseconds = 4999;
  expect(await read(4)).toBe('old!');
  milliseconds = 5000;
  expect(await read(4)).toBe('new!');
  await object(key, 'fivefive');
  expect(await read(8)).toBe('fivefive');
});

test('fails for a missing object and recovers after its repair', async () => {
  const small = openSmallObjects(storage);
  await expect(small.read('missing', 5)).rejects.toThrow(NoSuchObject);
  const key = await object('missing', 'found');
  expect(String(await small.read(key, 5))).toBe('found');
  const cut = await object('cut', 'whole');
  await truncate(join(directory, cut), 2);
  await expect(small.read(cut, 5)).rejects.toThrow(DamagedObject);
  await object(cut, 'whole');
  expect(String(await small.read(cut, 5))).toBe('whole');
});

test('evicts the least recently used object', async () => {
  const small = openSmallObjects(storage, { mostBytes: 10 });
  for (const key of ['a', 'b', 'c']) await object(key, '12345');
  await small.read('a', 5);
  await small.read('b', 5);
  await small.read('a', 5);
  reads = [];
  await small.read('c', 5);
  await small.read('a', 5);
  expect(reads).toEqual(['c']);
  await small.read('b', 5);
  expect(reads).toEqual(['c', 'b']);
});

test('leaves objects of more than 64 KiB to be streamed', () => {
  const small = openSmallObjects(storage);
  expect([small.takes(65_536), small.takes(65_537)]).toEqual([true, false]);
});
