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

/** Divides the name of a file into its stem and its extension with the dot. */
function divide(name: string): { stem: string; extension: string } {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  return { stem: name.slice(0, name.length - extension.length), extension };
}

/** Returns the name with another extension. */
export function withExtension(name: string, extension: string | null): string {
  const { stem } = divide(name);
  return extension === null ? stem : `${stem}.${extension}`;
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
    const { stem, extension } = divide(name);
    const safe = safeName(stem) || 'File';
    const first = `${safe}${extension}`;
    let candidate = first;
    let number = next.get(keyOf(first)) ?? 2;
    while (taken.has(keyOf(candidate))) {
      candidate = `${safe} (${number})${extension}`;
      number += 1;
    }
    next.set(keyOf(first), number);
    taken.add(keyOf(candidate));
    return candidate;
  };
}
