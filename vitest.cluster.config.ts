import { configDefaults, defineConfig } from 'vitest/config';
import usual from './vitest.config.ts';

// For the set-up before all tests too, which `test.env` does not reach.
process.env.VITRINE_TEST_CLUSTER = '1';

/** Tests of what one process does or has. Their libraries would have to be served by one. */
const ofOneProcess = [
  // Read the metrics of the process that they asked.
  'server/test/metrics/**',
  // Cut the storage or restore the database, whereupon HAProxy answers for all services, or compare the requests of one
  // service to the bucket.
  'server/test/storage/library.test.ts',
  'server/test/assets/full-disk.test.ts',
  'server/test/federation/catch-up.test.ts',
  // Run `vacuum` through the connections of the service.
  'server/test/collections/size.test.ts',
  'server/test/comments/plans.test.ts',
];

/** Tests that read, damage or list the files of a disk. */
const ofADisk =
  process.env.TEST_S3_ENDPOINT === undefined
    ? []
    : ['server/test/assets/damage.test.ts', 'server/test/appearance/logo.test.ts'];

/**
 * Names of tests that need a disk: the others of that kind, one that measures memory, which the proxy in front of the bucket
 * shares, and one that counts objects: the sweep removes those of an upload that is refused after its bytes were sent.
 */
const disk = [
  'names? the damage',
  'cannot read its file',
  'a file is missing',
  'stalled request of another process',
  'named with its assets',
  'in bounded memory',
  'an invalid value, a team of others, and a mature rating',
];

/**
 * Names of tests that count the statements or connections of one process, and of one whose outcome differs: in another
 * process, a stalled upload continues at its last checkpoint.
 */
const counts = [
  'statement',
  'decides about posts only until it is full',
  'stops reading the log when the client disconnects',
  'one database connection per process',
  'takes over from a stalled',
];

/** Names of tests of requests that HAProxy refuses: those for an absolute address of another host. */
const refused = ['answers absolute addresses of any host'];

const exceptions = [...counts, ...refused, ...(ofADisk.length === 0 ? [] : disk)].join('|');

/**
 * Runs the tests of the API with every library behind HAProxy, on three services, a shared volume, and a database behind
 * PgBouncer (server/test/support/cluster.ts). Browsers, decoders and processes have tests of their own.
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
    exclude: [...configDefaults.exclude, ...ofOneProcess, ...ofADisk],
    testNamePattern: new RegExp(`^(?!.*(${exceptions}))`),
  },
});
