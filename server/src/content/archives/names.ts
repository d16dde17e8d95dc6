import { divideName, nameWith } from '../assets/file-name.ts';

/** Longest name of a file inside an archive, in characters, without its extension. */
const LONGEST_NAME = 100;

/** Names that Windows keeps for devices, with any extension. */
const devices = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

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
  const cut = Array.from(plain).slice(0, LONGEST_NAME).join('');
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
