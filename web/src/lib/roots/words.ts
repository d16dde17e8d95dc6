import type { Root, RootScan } from '@vitrine/contract/roots';
import { plural } from '#lib/languages/plural.ts';
import { series } from '#lib/texts/series.ts';

const states: Readonly<Record<RootScan['state'], string>> = {
  never: 'Not scanned',
  waiting: 'Waiting',
  running: 'Scanning…',
  done: 'Scanned',
  unavailable: 'Not available',
  failed: 'Failed',
};

/** Returns the state of the scan that runs or ran last. */
export function stateOf({ scan }: Root): string {
  return states[scan.state];
}

export function isScanning({ scan }: Root): boolean {
  return scan.state === 'waiting' || scan.state === 'running';
}

/** Returns whether the last scan changed nothing because something was wrong. */
export function isTroubled({ scan }: Root): boolean {
  return scan.state === 'unavailable' || scan.state === 'failed';
}

const changes = {
  added: (count: number) => plural(count, ['# added', '# added']),
  changed: (count: number) => plural(count, ['# changed', '# changed']),
  moved: (count: number) => plural(count, ['# moved', '# moved']),
  missing: (count: number) => plural(count, ['# missing', '# missing']),
  returned: (count: number) => plural(count, ['# returned', '# returned']),
  failed: (count: number) => plural(count, ['# failed', '# failed']),
} as const;

/** Returns what the scan has found, such as `12 files, 3 added`. */
export function foundBy({ scan }: Root): string {
  const parts = (['added', 'changed', 'moved', 'missing', 'returned', 'failed'] as const).flatMap((name) =>
    scan[name] === 0 ? [] : [changes[name](scan[name])],
  );
  return series([plural(scan.files, ['# file', '# files']), ...parts]);
}

/** Returns the lines of a text without empty ones. */
export function linesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => line.trim() || []);
}

/** Returns the fields of lines such as `client={value}/`; a line without `=` is a field without a pattern. */
export function fieldsOf(text: string): Root['fields'] {
  return linesOf(text).map((line) => {
    const at = line.indexOf('=');
    const [code, pattern] = at === -1 ? [line, '{value}/'] : [line.slice(0, at), line.slice(at + 1)];
    return { field_code: code.trim(), pattern: pattern.trim() };
  });
}
