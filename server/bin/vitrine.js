#!/usr/bin/env node
await import('./check-runtime.js');
await import('../src/cli.ts');
