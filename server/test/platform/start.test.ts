import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LATEST_QUEUE_MIGRATION } from '../../src/platform/database/migrate.ts';
import { type Clone, cloneTemplate } from '../support/clone.ts';
import { startProcess } from '../support/process.ts';

let clone: Clone;
let dataDir: string;

beforeEach(async () => {
  clone = await cloneTemplate();
  dataDir = await mkdtemp(join(tmpdir(), 'vitrine-start-'));
  await chmod(dataDir, 0o755);
});

afterEach(async () => {
  await clone.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function query(text: string): Promise<unknown[]> {
  const client = new pg.Client(clone.settings);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

// A start without migrations does not load graphile-worker, so the number is written down.
test('knows the latest migration of the job queue', async () => {
  expect(await query('select max(id) as latest from graphile_worker.migrations')).toEqual([
    { latest: LATEST_QUEUE_MIGRATION },
  ]);
});

test('ends with an error when the worker, which starts after the service listens, cannot start', async () => {
  // The migrations of the queue are recorded, so that they do not run again.
  await query('drop table graphile_worker._private_jobs cascade');
  const service = await startProcess(dataDir, { DATABASE_URL: clone.url });
  expect(await service.exited).toBe(1);
  expect(service.output()).toMatch(/listening on .*graphile_worker/s);
});
