import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiVersion } from '@vitrine/contract/operations';
import { getBuildInfo } from '@vitrine/contract/system';
import { handle } from '../handle.ts';

/** The version in the server's package.json. */
export function readVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  const { version }: { version?: unknown } = JSON.parse(text);
  return typeof version === 'string' ? version : 'unknown';
}

export const showBuildInfo = handle(getBuildInfo, async () => ({
  status: 200,
  body: { version: readVersion(), api_version: apiVersion },
}));
