import type { Entry } from '@zip.js/zip.js';
import { encodingOf } from '../text-encoding.ts';

/** Encodings that are told apart reliably even in short names. The others look like the default, code page 437. */
const reliable: ReadonlySet<string> = new Set([
  ...['Shift_JIS', 'EUC-JP', 'ISO-2022-JP', 'GBK', 'Big5', 'EUC-KR'],
  ...['IBM866', 'KOI8-U', 'windows-1251'],
]);

/**
 * Returns the names of entries of a ZIP archive. Names in UTF-8 count as such even if they are not marked, as the Finder
 * writes them; the others are in one encoding, that of the system that made the archive.
 */
export function namesOf(entries: readonly Entry[]): string[] {
  const unmarked = entries.filter((entry) => !entry.filenameUTF8);
  const encoding = encodingOf(
    Buffer.concat(unmarked.flatMap(({ rawFilename }) => [rawFilename, Buffer.from('\n')])),
  );
  return entries.map((entry) => {
    if (entry.filenameUTF8 || !reliable.has(encoding)) return entry.filename;
    return new TextDecoder(encoding).decode(entry.rawFilename);
  });
}
