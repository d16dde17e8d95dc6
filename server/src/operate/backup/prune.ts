import { fileName, listBackups, partName, readFiles, readManifest } from './manifest.ts';
import type { Repository } from './repository.ts';

/** Maximum number of names in memory at the same time, about 100 MB. */
const MOST_NAMES = 500_000;

/** Removes files that no complete backup refers to. */
async function removeUnusedFiles(repository: Repository): Promise<void> {
  const { complete } = await listBackups(repository);
  const manifests = await Promise.all(complete.map((id) => readManifest(repository, id)));
  const total = manifests.reduce((sum, { files }) => sum + files.count, 0);
  // The first byte of a name is random, so each pass covers an equal share of the names.
  const passes = Math.min(256, Math.max(1, Math.ceil(total / MOST_NAMES)));
  const passOf = (key: string) => Math.floor((Number.parseInt(key.slice(6, 8), 16) * passes) / 256);
  for (let pass = 0; pass < passes; pass += 1) {
    const used = new Set<string>();
    for (const manifest of manifests) {
      for await (const { sha256 } of readFiles(repository, manifest)) {
        const key = repository.keyOf(fileName(sha256));
        if (passOf(key) === pass) used.add(key);
      }
    }
    for await (const key of repository.target.list('files/')) {
      if (passOf(key) === pass && !used.has(key)) await repository.target.remove(key);
    }
  }
}

/**
 * Removes these backups and, if there are any or `hasLeftovers` is set, files that no other backup needs. An
 * interruption leaves complete backups and unused files, which the next run removes.
 */
export async function prune(
  repository: Repository,
  ids: readonly string[],
  hasLeftovers: boolean,
): Promise<void> {
  const { target } = repository;
  for (const id of ids) {
    // Without its manifest the backup is incomplete, and the next run removes it.
    await target.remove(repository.keyOf(partName(id, 'manifest')));
    for await (const key of target.list(`backups/${id}/`)) await target.remove(key);
  }
  if (ids.length > 0 || hasLeftovers) await removeUnusedFiles(repository);
}
