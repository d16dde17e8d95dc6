import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atOnce, onThreads } from '../../src/platform/files/operations.ts';

test.each([
  ['on threads', onThreads],
  ['at once', atOnce],
])('changes files %s', async (_, operations) => {
  const place = await mkdtemp(join(tmpdir(), 'file-operations-'));
  const [folder, file, other] = [join(place, 'a/b'), join(place, 'a/b/file'), join(place, 'a/other')];
  await operations.mkdir(folder, { recursive: true });
  await writeFile(file, 'bytes', { mode: 0o600 });
  await operations.sync(file);
  await operations.link(file, other);
  expect((await operations.stat(other)).nlink).toBe(2);
  await operations.chmod(other, 0o640);
  expect((await operations.lstat(file)).mode & 0o777).toBe(0o640);
  await operations.rename(file, join(folder, 'moved'));
  await operations.sync(folder);
  expect(await operations.readdir(folder)).toEqual(['moved']);
  expect(await readFile(await operations.realpath(join(folder, '../b/moved')), 'utf8')).toBe('bytes');
  await expect(operations.rename(file, other)).rejects.toThrow('ENOENT');
  await expect(operations.sync(file)).rejects.toThrow('ENOENT');
  await operations.rm(place, { recursive: true, force: true });
  await expect(operations.stat(place)).rejects.toThrow('ENOENT');
});
