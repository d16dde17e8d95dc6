import { defineConfig } from 'vitest/config';
import usual from './vitest.config.ts';

// For the set-up before all tests too, which `test.env` does not reach.
process.env.VITRINE_TEST_CLUSTER = '1';

/**
 * Runs the tests of the API with every library behind HAProxy, on three services, a shared volume, and a database behind
 * PgBouncer (server/test/support/cluster.ts). package.json names the tags of the tests that it leaves out. Browsers, decoders and processes have tests of their own.
 */
export default defineConfig({
  test: {
    // Not merged: the lists of files would be joined.
    ...usual.test,
    include: [
      `server/test/{${[
        'access',
        'account',
        'activitypub',
        'admin',
        'appearance',
        'assets',
        'audit',
        'collections',
        'comments',
        'federation',
        'fields',
        'identity',
        'links',
        'mail',
        'notifications',
        'posts',
        'public',
        'quotas',
        'races',
        'requests',
        'roles',
        'search',
        'storage',
        'subtitles',
        'tags',
        'teams',
        'trash',
        'uploads',
        'users',
        'whiteboards',
      ].join(',')}}/**/*.test.ts`,
    ],
  },
});
