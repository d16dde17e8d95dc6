import { createHash } from 'node:crypto';
import { baseName, discard, type Received } from '../../content/assets/receive.ts';
import { sentence } from '../../platform/language/sentence.ts';
import type { Asset } from './answers.ts';
import type { Context } from './context.ts';

/** Returns whether the checksum is that of the path, as for files of external libraries. */
function isOfPath({ checksum, originalPath }: Asset): boolean {
  return createHash('sha1').update(`path:${originalPath}`).digest('base64') === checksum;
}

export function fileNameOf({ originalFileName }: Asset): string {
  return baseName(originalFileName);
}

/**
 * Downloads a file and compares its bytes with the checksum that Immich recorded, twice before they count as different: they
 * may have broken on the way (IMPORT-13).
 */
export async function receiveOriginal(
  { immich, deps, reporter }: Pick<Context, 'immich' | 'deps' | 'reporter'>,
  asset: Asset,
): Promise<Received> {
  const { hashes } = reporter.report;
  const first = await immich.download(asset.id, deps.storage);
  reporter.count('files');
  if (isOfPath(asset)) return first.received;
  hashes.compared += 1;
  if (first.sha1 === asset.checksum) {
    hashes.equal += 1;
    return first.received;
  }
  await discard(first.received.path);
  const second = await immich.download(asset.id, deps.storage);
  if (second.sha1 === asset.checksum) hashes.equal += 1;
  else {
    hashes.different.push(asset.id);
    const reason = sentence(
      'its bytes are not those whose checksum Immich recorded; they were imported as they are',
    );
    reporter.leaveOut('original bytes', asset.id, reason);
  }
  return second.received;
}
