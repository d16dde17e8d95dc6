import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderJob } from '../../src/assets/jobs/render.ts';
import { tilesJob } from '../../src/assets/jobs/tiles.ts';
import { purge, releaseBytes } from '../../src/trash/jobs/purge.ts';
import {
  type BucketService,
  namedService,
  openBucket,
  startService,
  type TestBucket,
} from '../support/bucket.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

let service: BucketService;
let bucket: TestBucket;
let library: Library;
let mara: Account;

beforeAll(async () => {
  service = namedService ?? (await startService());
  bucket = await openBucket(service);
  library = await openLibrary(bucket.env);
  mara = await library.join('mara');
});

afterAll(async () => {
  await bucket.close();
  await service.stop();
});

// TRASH-7
test.each([
  ['rendering', renderJob],
  ['tiles', tilesJob],
] as const)('nothing in the bucket outlives bytes that are purged during their %s', async (_, job) => {
  const { deps } = library;
  const { id, file_hash: hash } = await upload(mara, await jpeg(5000, 40));
  if (hash === null) throw new Error('the asset has bytes');
  await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`.execute(
    deps.db,
  );
  const stored = async () => (await bucket.keys()).filter((key) => key.includes(hash));
  const purgeAll = async () => {
    await mara.ok('deleteAsset', { params: { id }, body: undefined });
    await sql`update assets set deleted_at = now() - interval '31 days' where id = ${id}`.execute(deps.db);
    await purge(deps.db);
    await releaseBytes(deps, hash);
    expect(await stored()).toEqual([]);
  };
  let purged: Promise<void> | undefined;
  // The purge ends just before the job stores its first object.
  const storage = {
    ...deps.storage,
    async stage(path: string, key: string) {
      purged ??= purgeAll();
      await purged;
      await deps.storage.stage(path, key);
    },
  };
  const context = { jobId: '1', lastAttempt: false, log: deps.log };
  await job({ ...deps, storage })({ hash, owner: String(mara.ref) }, context);
  expect(await stored()).not.toEqual([]);
  await library.runJobs();
  expect(await stored()).toEqual([]);
});
