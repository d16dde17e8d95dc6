import { isSystemName } from '../../platform/files/junk.ts';

/** Returns whether a file or folder is left out, by its name and its path below the root. */
export type Skips = (name: string, path: string) => boolean;

function sourceOf(token: string): string {
  if (token === '**/') return '(?:[^/]+/)*';
  if (token === '**') return '.*';
  if (token === '*') return '[^/]*';
  if (token === '?') return '[^/]';
  return token.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** Compiles a pattern with `*`, `?` and `**`: with `/` it is compared with the path, otherwise with the name. */
function compileSkip(pattern: string): Skips {
  const trimmed = pattern.normalize('NFC').replace(/^\/|\/$/g, '');
  // Consecutive stars match the same as one, and would take long.
  const tokens = trimmed.replace(/\*{3,}/g, '**').match(/\*\*\/|\*\*|[\s\S]/gu) ?? [];
  const form = new RegExp(`^${tokens.map(sourceOf).join('')}$`, 'su');
  return pattern.includes('/') ? (_, path) => form.test(path) : (name) => form.test(name);
}

/** Returns what is left out: hidden names, what systems write, and what the patterns of the root match (ROOT-3). */
export function skipsOf(patterns: readonly string[]): Skips {
  const compiled = patterns.map(compileSkip);
  return (name, path) => {
    if (name.startsWith('.') || isSystemName(name)) return true;
    // macOS writes letters and their accents apart.
    const [composedName, composedPath] = [name.normalize('NFC'), path.normalize('NFC')];
    return compiled.some((skips) => skips(composedName, composedPath));
  };
}
