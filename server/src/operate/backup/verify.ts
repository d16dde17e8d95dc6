import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { inOrder, readFileOf } from './copy-files.ts';
import { listBackups, type Manifest, partName, readFiles, readManifest } from './manifest.ts';
import { drain, type Repository, whyDamaged } from './repository.ts';
import { BackupError } from './target.ts';

/** Returns the manifest of backup `id`, or of the latest. Throws BackupError if it does not exist. */
export async function findBackup(repository: Repository, id: string | null): Promise<Manifest> {
  const { complete } = await listBackups(repository);
  const found = id ?? complete.at(-1);
  if (found === undefined)
    throw new BackupError(
      sentence('there is no complete backup in {place}', { place: repository.target.place }),
    );
  if (!complete.includes(found)) {
    throw new BackupError(
      sentence('there is no complete backup {backup} in {place}', {
        backup: found,
        place: repository.target.place,
      }),
    );
  }
  return readManifest(repository, found);
}

/** A fault of a backup: its one line, and the key of the library's file; null for rows and lists. */
export interface Damage {
  key: string | null;
  reason: Sentence;
}

/**
 * Reads every byte of a backup and yields each problem. Yields nothing if it can be restored; files that the library had
 * lost when it was backed up are not damage.
 */
export async function* verify(repository: Repository, manifest: Manifest): AsyncIterable<Damage> {
  const { id, tables, jobs, files } = manifest;
  const parts = [
    ...tables.map(({ name, content }) => ({ name: `tables/${name}`, content })),
    { name: 'jobs', content: jobs.content },
    { name: 'files', content: files.content },
  ];
  for (const { name, content } of parts) {
    const reason = await whyDamaged(drain(repository.read(partName(id, name), content)));
    if (reason === null) continue;
    yield { key: null, reason };
    // The other files are known only from this list.
    if (name === 'files') return;
  }
  const checked = inOrder(readFiles(repository, manifest), async (file) => ({
    key: file.key,
    reason: await whyDamaged(drain(readFileOf(repository, file))),
  }));
  for await (const { key, reason } of checked) if (reason !== null) yield { key, reason };
}
