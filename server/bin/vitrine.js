#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

await import('./check-runtime.js');
// Imported dynamically: older versions of Node lack it, and must still print why they cannot start.
const { enableCompileCache } = await import('node:module');
// Caches compiled code, which shortens the next start by a third. Does nothing if the cache is not writable.
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/node'));
const { bundleFolder } = await import('./bundle.js');
const bundle = pathToFileURL(bundleFolder()).href;
if (existsSync(fileURLToPath(bundle))) {
  (await import('./stack-traces.js')).nameSources(bundle);
  await import(`${bundle}/boot-cli.js`);
} else await import('../src/boot/cli.ts');
