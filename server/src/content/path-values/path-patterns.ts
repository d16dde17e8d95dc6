import { type Sentence, sentence } from '../../platform/language/sentence.ts';

/** `--field CODE=PATTERN`: what a file's path says about it (ADMIN-31). */

/** Placeholders of a date and time, with the digits that they stand for. */
const clockParts = {
  yyyy: '\\d{4}',
  mm: '0[1-9]|1[0-2]',
  dd: '0[1-9]|[12]\\d|3[01]',
  hh: '[01]\\d|2[0-3]',
  mi: '[0-5]\\d',
  ss: '[0-5]\\d',
} as const;
type ClockPart = keyof typeof clockParts;

/** Returns the value that a path gives; null when the pattern does not match it. */
export type PathPattern = (folder: string, name: string) => string | null;

function isClockPart(name: string): name is ClockPart {
  return Object.hasOwn(clockParts, name);
}

/** Returns the regular expression of one token: a placeholder, a wildcard or a character. */
function sourceOf(token: string, isLast: boolean): string {
  if (token === '**/') return '(?:[^/]+/)*';
  if (token === '*') return '[^/]*';
  if (token === '?') return '[^/]';
  const placeholder = /^\{(\w+)\}$/.exec(token)?.[1];
  if (placeholder === undefined) return token.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  if (isClockPart(placeholder)) return `(?<${placeholder}>${clockParts[placeholder]})`;
  return isLast ? '(?<value>[^/]+)' : '(?<value>[^/]+?)';
}

/** Returns why the placeholders of a pattern are not valid, or null. */
function faultOf(placeholders: readonly string[]): Sentence | null {
  const unknown = placeholders.find((name) => name !== 'value' && !isClockPart(name));
  if (unknown !== undefined)
    return sentence('{placeholder} is none of {known}', {
      placeholder: `{${unknown}}`,
      known: ['value', ...Object.keys(clockParts)].map((part) => `{${part}}`).join(', '),
    });
  if (placeholders.length === 0)
    return sentence('it has no placeholder, such as {one} or {other}', { one: '{value}', other: '{yyyy}' });
  return new Set(placeholders).size < placeholders.length ? sentence('a placeholder occurs twice') : null;
}

/** Combines the parts of a date in ISO 8601, as far as they are given: a year, a month, a day or a time. */
function momentOf(parts: Partial<Record<ClockPart, string>>): string | null {
  const { yyyy, mm, dd, hh, mi, ss = '00' } = parts;
  if (yyyy === undefined) return null;
  if (mm === undefined) return yyyy;
  if (dd === undefined) return `${yyyy}-${mm}`;
  return hh === undefined || mi === undefined
    ? `${yyyy}-${mm}-${dd}`
    : `${yyyy}-${mm}-${dd}T${hh}:${mi}:${ss}`;
}

/**
 * Compiles a pattern. One that ends with `/` matches the first folders of a path, another one without `/` the name of
 * the file, and one with `/` the whole path. `**` with `/` matches any number of folders. Returns its fault if it is
 * not valid.
 */
export function compilePattern(pattern: string): PathPattern | { fault: Sentence } {
  const tokens = pattern.match(/\*\*\/|\{\w+\}|[\s\S]/g) ?? [];
  const placeholders = tokens.flatMap((token) => /^\{(\w+)\}$/.exec(token)?.[1] ?? []);
  const fault = faultOf(placeholders);
  if (fault !== null) return { fault };
  const source = tokens.map((token, at) =>
    sourceOf(token, at === tokens.length - 1 || tokens[at + 1] === '/'),
  );
  const ofFolders = pattern.endsWith('/');
  const ofName = !pattern.includes('/');
  const form = new RegExp(`^${source.join('')}${ofFolders ? '' : '$'}`, 'u');
  return (folder, name) => {
    const inFolder = folder === '' ? '' : `${folder}/`;
    const groups = form.exec(ofFolders ? inFolder : ofName ? name : `${inFolder}${name}`)?.groups;
    if (groups === undefined) return null;
    const { value, ...clock } = groups;
    return value === undefined ? momentOf(clock) : value.trim() || null;
  };
}
