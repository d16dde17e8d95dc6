import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverFolder } from './installation.ts';

/** Returns the version in the server's package.json. */
export function readVersion(): string {
  const text = readFileSync(join(serverFolder, 'package.json'), 'utf8');
  const { version }: { version?: unknown } = JSON.parse(text);
  return typeof version === 'string' ? version : 'unknown';
}
