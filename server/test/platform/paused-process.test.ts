import pg from 'pg';
import { expect, test } from 'vitest';
import { watchPool } from '../../src/platform/database/watch.ts';
import { openLibrary } from '../support/library.ts';
import { settingsOf } from '../support/second.ts';

/** Blocks this thread, like compiling or parsing something large. */
function blockFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

// RUN-4
test('does not consider the database lost while the process is busy', async () => {
  const settings = settingsOf(await openLibrary());
  const pool = new pg.Pool(settings);
  // `end` returns before the server has closed the connections, and dropping the database ends them.
  pool.on('connect', (connected) => connected.on('error', () => {}));
  const changes: boolean[] = [];
  const watched = watchPool(pool, settings, (answers) => changes.push(answers));
  (await watched.connect()).release();
  // The first check opens a connection, which takes several turns of the event loop. The test makes each of them slow.
  for (let turn = 0; turn < 10; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    blockFor(500);
  }
  const client = await watched.connect();
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  client.release();
  await watched.close();
  await pool.end();
  expect(changes).toEqual([]);
});
