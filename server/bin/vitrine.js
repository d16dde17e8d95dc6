#!/usr/bin/env node
import { join } from 'node:path';

await import('./check-runtime.js');
// Imported dynamically: older versions of Node lack it, and must still print why they cannot start.
const { enableCompileCache } = await import('node:module');
// Caches compiled code, which shortens the next start by a third. Does nothing if the cache is not writable.
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/node'));
await import('../src/boot/cli.ts');
