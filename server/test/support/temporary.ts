import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/**
 * Creates a directory that PostgreSQL's user can enter, and removes it after the file's tests. For the top of a file: its
 * hook runs after those that the file adds later.
 */
export async function temporaryDirectory(parent = tmpdir()): Promise<string> {
  const path = await mkdtemp(join(parent, 'vitrine-test-'));
  await chmod(path, 0o755);
  afterAll(() => rm(path, { recursive: true, force: true }));
  return path;
}
