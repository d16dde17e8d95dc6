import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['contract/test/**/*.test.ts', 'server/test/**/*.test.ts', 'web/test/**/*.test.ts'],
    pool: 'threads',
    // Two more than the cores of a small machine: tests also wait for browsers, decoders and processes.
    maxWorkers: 4,
    // Files share nothing but code: loading it once for all of them saves a third of the time.
    isolate: false,
    globalSetup: ['server/test/support/template.ts'],
    setupFiles: ['server/test/support/close.ts'],
    // Browser tests tell whole stories, on machines that have other work; what is awaited in them has limits of its own.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
