import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the version in the server's package.json. */
export function readVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  const { version }: { version?: unknown } = JSON.parse(text);
  return typeof version === 'string' ? version : 'unknown';
}
