import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Storage } from '../../../platform/storage/storage.ts';

/**
 * Creates a directory for the files that a job makes, and removes those of attempts that ended with their process. At
 * most one attempt may run under this name at a time. The caller removes the directory.
 */
export async function openJobDirectory(
  { incomingDir }: Pick<Storage, 'incomingDir'>,
  name: `${'render' | 'tiles' | 'transcode'}-${string}`,
): Promise<string> {
  const prefix = `${name}-`;
  for (const entry of await readdir(incomingDir)) {
    if (entry.startsWith(prefix)) await rm(join(incomingDir, entry), { recursive: true, force: true });
  }
  return mkdtemp(join(incomingDir, prefix));
}
