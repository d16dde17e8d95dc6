import { defineConfig } from 'vitest/config';

/** The tests that need neither a server nor a database: `npm run test:unit`. `npm test` runs them too. */
export default defineConfig({
  test: {
    include: [
      'contract/test/{architecture,frames,operations,rules}.test.ts',
      'web/test/**/*.test.ts',
      'server/test/access/rules.test.ts',
      'server/test/federation/protocol/{addresses,box,canonical,envelope,http-signature,signature,strict-json}.test.ts',
      'server/test/deploy/deploy.test.ts',
      'server/test/fields/{condition,pattern,vocabulary}.test.ts',
      'server/test/media/{exif,ladder,sniff,text-formats}.test.ts',
      'server/test/notifications/wording.test.ts',
      'server/test/platform/{batch,event-streams,pages}.test.ts',
      'server/test/subtitles/formats.test.ts',
    ],
    pool: 'threads',
    maxWorkers: 2,
    isolate: false,
    testTimeout: 60_000,
  },
});
