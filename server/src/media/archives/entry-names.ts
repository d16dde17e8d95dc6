import type { Entry } from '@zip.js/zip.js';
import { encodingOf } from '../text-encoding.ts';

/** Encodings that are told apart reliably even in short names. The others look like the default, code page 437. */
const reliable: ReadonlySet<string> = new Set([
  ...['Shift_JIS', 'EUC-JP', 'ISO-2022-JP', 'GBK', 'Big5', 'EUC-KR'],
  ...['IBM866', 'KOI8-U', 'windows-1251'],
]);

/** Returns the encoding of names: UTF-8 if they are, otherwise the one that they share. */
function encodingOfNames(names: readonly Uint8Array[]): string {
  return encodingOf(Buffer.concat(names.flatMap((name) => [name, Buffer.from('\n')])));
}

/**
 * Returns the names of entries of a ZIP archive. Names in UTF-8 count as such even if they are not marked, as the Finder
 * writes them; the others are in one encoding, that of the system that made the archive.
 */
export function namesOf(entries: readonly Entry[]): string[] {
  const unmarked = entries.filter((entry) => !entry.filenameUTF8);
  const encoding = encodingOfNames(unmarked.map(({ rawFilename }) => rawFilename));
  return entries.map((entry) => {
    if (entry.filenameUTF8 || !reliable.has(encoding)) return entry.filename;
    return new TextDecoder(encoding).decode(entry.rawFilename);
  });
}

/** Returns the names in a tar archive, which does not say their encoding unless it has them in UTF-8 (as texts here). */
export function namesOfTar(names: readonly (string | Uint8Array)[]): string[] {
  const encoding = encodingOfNames(names.filter((name) => typeof name !== 'string'));
  const decoder = new TextDecoder(encoding);
  return names.map((name) => (typeof name === 'string' ? name : decoder.decode(name)));
}
