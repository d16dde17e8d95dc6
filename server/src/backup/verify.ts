import { inOrder, readFileOf } from './copy-files.ts';
import { listBackups, type Manifest, partName, readFiles, readManifest } from './manifest.ts';
import type { Repository } from './repository.ts';
import { BackupError } from './target.ts';

async function drain(content: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of content);
}

async function whyDamaged(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof BackupError) return error.message;
    throw error;
  }
}

/** Returns the manifest of backup `id`, or of the latest. Throws BackupError if it does not exist. */
export async function findBackup(repository: Repository, id: string | null): Promise<Manifest> {
  const { complete } = await listBackups(repository);
  const found = id ?? complete.at(-1);
  if (found === undefined) throw new BackupError(`there is no complete backup in ${repository.target.place}`);
  if (!complete.includes(found)) {
    throw new BackupError(`there is no complete backup ${found} in ${repository.target.place}`);
  }
  return readManifest(repository, found);
}

/**
 * Reads every byte of a backup and yields a line for each problem. Yields nothing if it can be restored;
 * files that the library had lost when it was backed up are not damage.
 */
export async function* verify(repository: Repository, manifest: Manifest): AsyncIterable<string> {
  const { id, tables, jobs, files } = manifest;
  const parts = [
    ...tables.map(({ name, content }) => ({ name: `tables/${name}`, content })),
    { name: 'jobs', content: jobs.content },
    { name: 'files', content: files.content },
  ];
  for (const { name, content } of parts) {
    const damage = await whyDamaged(drain(repository.read(partName(id, name), content)));
    if (damage === null) continue;
    yield damage;
    // The other files are known only from this list.
    if (name === 'files') return;
  }
  const damages = inOrder(readFiles(repository, manifest), (file) =>
    whyDamaged(drain(readFileOf(repository, file))),
  );
  for await (const damage of damages) if (damage !== null) yield damage;
}
