import { setFlagsFromString } from 'node:v8';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './server/test/support/longest-first.ts';

// Workers allocate much that lives briefly. With the usual young generation of 16 MB, collecting it takes a tenth of their
// time. They are threads of this process, whose flags they share.
setFlagsFromString('--min-semi-space-size=32');
setFlagsFromString('--max-semi-space-size=64');

/** What a test needs of its library; the runs of a cluster leave some of them out. */
const tags = [
  {
    name: 'one-process',
    description:
      'Counts or changes what one process has: its statements, connections, storage or connection to the database.',
  },
  { name: 'disk', description: 'Reads, damages, lists or counts stored files on a disk.' },
  { name: 'not-proxied', description: 'Sends requests that HAProxy refuses.' },
];

export default defineConfig({
  test: {
    tags,
    include: ['contract/test/**/*.test.ts', 'server/test/**/*.test.ts', 'web/test/**/*.test.ts'],
    pool: 'threads',
    // Two more than the cores of a small machine: tests also wait for browsers, decoders and processes.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Files share nothing but code: loading it once for all of them saves a third of the time.
    isolate: false,
    // Node loads packages as in production. Otherwise each use of what they export passes a proxy.
    deps: { interopDefault: false },
    globalSetup: ['server/test/support/template.ts'],
    setupFiles: ['server/test/support/close.ts'],
    // Browser tests tell whole stories, on machines that have other work; what is awaited in them has limits of its own.
    testTimeout: 240_000,
    hookTimeout: 360_000,
    // As long as browsers wait for anything on a page (studio.ts); a load of 20 stretches a second to ten, and a slow
    // machine doubles that.
    expect: { poll: { timeout: 60_000 } },
  },
});
