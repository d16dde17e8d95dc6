import { divideName, nameWith } from '../assets/file-name.ts';

/** Longest name of a file inside an archive, in characters, without its extension. */
const LONGEST_NAME = 100;

/** Its longest form in UTF-8: file systems take 255 bytes, and a number and the extension follow. */
const LONGEST_NAME_BYTES = 220;

/** Names that Windows reserves for devices, whatever follows a dot. */
const devices = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])\s*(\.|$)/i;

/** Cuts a text to a number of bytes in UTF-8, between characters. */
export function cutToBytes(text: string, most: number): string {
  let bytes = 0;
  let cut = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > most) return cut;
    cut += character;
  }
  return cut;
}

/**
 * Returns a name that every system can unpack: no separators, control or reserved characters, and no dots or spaces at
 * either end.
 */
export function safeName(name: string): string {
  const plain = name
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .replace(/[/\\:*?"<>|]/g, '_');
  const cut = cutToBytes(Array.from(plain).slice(0, LONGEST_NAME).join(''), LONGEST_NAME_BYTES);
  const trimmed = cut.replace(/^[\s.]+|[\s.]+$/g, '');
  return devices.test(trimmed) ? `_${trimmed}` : trimmed;
}

/**
 * Returns a function that names the files of an archive: each name is safe and given once, also where case and Unicode
 * form do not count, with a number if another file has it.
 */
export function distinctNames(reserved: readonly string[]): (name: string) => string {
  const keyOf = (name: string) => name.normalize('NFKC').toLowerCase();
  const taken = new Set(reserved.map(keyOf));
  /** The next number to try for each name that was given already. */
  const next = new Map<string, number>();
  return (name) => {
    const { stem, extension } = divideName(name);
    const safe = safeName(stem) || 'File';
    const first = nameWith(safe, extension);
    let candidate = first;
    let number = next.get(keyOf(first)) ?? 2;
    while (taken.has(keyOf(candidate))) {
      candidate = nameWith(`${safe} (${number})`, extension);
      number += 1;
    }
    next.set(keyOf(first), number);
    taken.add(keyOf(candidate));
    return candidate;
  };
}
