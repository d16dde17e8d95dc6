import { leftOutName } from '@vitrine/contract/archives';
import { notFound } from '../../platform/http/refuse.ts';
import type { ZipSource } from '../../platform/zip/write.ts';

/** The reason for an asset that the account is not given, whether or not it exists. */
export const NOT_FOUND = notFound().message;

/** A line of the list: the id and the reason, and nothing about the file itself. */
export function listed(assetId: string, reason: string): string {
  return `${assetId}\t${reason}\n`;
}

/** Returns the list of what an archive leaves out as a file of the archive; null if nothing was. */
export function leftOutText(lines: readonly string[]): ZipSource | null {
  if (lines.length === 0) return null;
  const bytes = Buffer.from(lines.join(''), 'utf8');
  return {
    name: leftOutName,
    sizeBytes: bytes.length,
    // The same in every download, so that one can be continued.
    modified: new Date(0),
    crc: null,
    async open(range) {
      const part = range === undefined ? bytes : bytes.subarray(range.start, range.end + 1);
      return (async function* () {
        yield part;
      })();
    },
  };
}
