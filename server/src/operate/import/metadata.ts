import { createReadStream } from 'node:fs';
import { mostSidecarBytes } from '@vitrine/contract/sidecars';
import { discard, receive } from '../../content/assets/receive.ts';
import { hashOf } from '../../content/assets/repair.ts';
import { type ReadSidecar, readSidecar } from '../../content/sidecars/read.ts';
import { attachMetadata } from '../../content/sidecars/store.ts';
import type { Deps } from '../../core/deps.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import type { Sentence } from '../../platform/language/sentence.ts';
import type { FoundMetadata } from './plan.ts';

/** The tag of a favourite of another program. */
const FAVOURITE = 'favourite';

/** Reads a file with metadata. Rejects with the reason when it cannot be used. */
async function read(deps: Deps, found: FoundMetadata): Promise<ReadSidecar> {
  const { file } = found;
  if (found.kind === 'takeout') {
    const { sources, isFavourite } = found.takeout;
    const tags = isFavourite ? [FAVOURITE] : [];
    return { kind: 'takeout', fileName: file.name, hash: await hashOf(file.source), sources, raw: {}, tags };
  }
  // A copy has a path that decoders can open even if the name of the file is not UTF-8.
  const received = await receive(createReadStream(file.source), deps.storage, mostSidecarBytes);
  try {
    return await readSidecar(deps, { ...received, name: file.name, kind: found.kind });
  } finally {
    await discard(received.path);
  }
}

/**
 * Gives an asset the metadata beside its file. Returns why a sidecar could not be used, by its path; the others count.
 */
export async function describeStored(
  deps: Deps,
  asset: { id: string; ownerRef: number },
  found: readonly FoundMetadata[],
): Promise<{ path: string; reason: Sentence }[]> {
  const failures: { path: string; reason: Sentence }[] = [];
  const sidecars: ReadSidecar[] = [];
  for (const metadata of found) {
    try {
      sidecars.push(await read(deps, metadata));
    } catch (error) {
      failures.push({ path: metadata.file.path, reason: sentenceOfError(error) });
    }
  }
  if (sidecars.length === 0) return failures;
  await deps.db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom('assets')
      .select('file_hash')
      .where('id', '=', asset.id)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (row?.file_hash != null) await attachMetadata(tx, { ...asset, hash: row.file_hash }, sidecars);
  });
  return failures;
}
