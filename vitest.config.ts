import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['contract/test/**/*.test.ts', 'server/test/**/*.test.ts', 'web/test/**/*.test.ts'],
    pool: 'threads',
    maxWorkers: 2,
    // Files share nothing but code: loading it once for all of them saves a third of the time.
    isolate: false,
    globalSetup: ['server/test/support/template.ts'],
    setupFiles: ['server/test/support/close.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
