#!/usr/bin/env node
import { join } from 'node:path';

await import('./check-runtime.js');
// Older runtimes lack it, and they should hear why they cannot start.
const { enableCompileCache } = await import('node:module');
// What was compiled once starts a third sooner the next time; where it cannot be kept, nothing is.
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/node'));
await import('../src/cli.ts');
