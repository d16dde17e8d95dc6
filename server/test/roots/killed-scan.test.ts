import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { takeKeyedLock } from '../../src/platform/database/take-lock.ts';
import { openLibrary } from '../support/library.ts';
import { jpeg, sha256 } from '../support/pictures.ts';
import { spawnVitrine } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** The walk yields parts of 500 files: the first two, and the others. */
const BEFORE = 1000;
const AFTER = 600;
const FILES = BEFORE + AFTER;

const library = await openLibrary();
const { db } = library.deps;
const admin = await library.join('admin', 'admin');

const textOf = (at: number) => `This is the text of file ${at}.\n`;

const scanOf = (folder: string) =>
  spawnVitrine(library.config.dataDir, ['roots', 'scan', folder], { DATABASE_URL: library.databaseUrl });

/** Ends what a killed scan holds, which would expire. */
const expireLease = (id: string) =>
  sql`update roots set lease_until = now() where id = ${id} and lease is not null`.execute(db);

/** Writes the files, the last ones in a folder that is walked after the others. */
async function makeFiles(folder: string): Promise<void> {
  await mkdir(join(folder, 'sub'));
  for (let at = 0; at < FILES; at += 1) {
    const path = join(folder, at < BEFORE ? '.' : 'sub', `file-${at}.txt`);
    await writeFile(path, textOf(at));
  }
}

async function countAssets(root: string): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`select count(*) as count from assets where root_id = ${root}`.execute(db);
  return rows[0]?.count ?? 0;
}

// ROOT-9
test('a scan that was killed in the middle is repeated without losing or doubling a file', async () => {
  const folder = await mkdtemp(join(await temporaryDirectory(), 'root-'));
  await makeFiles(folder);
  const { id } = await admin.ok('createRoot', {
    body: { path: folder, owner_ref: admin.ref, sensitivity: 'org' },
  });
  // Keeps the scan from storing the last part.
  await db.transaction().execute(async (tx) => {
    await takeKeyedLock(tx, 'file', sha256(Buffer.from(textOf(FILES - 1))));
    const { child, ended } = scanOf(folder);
    await expect.poll(() => countAssets(id)).toBe(BEFORE);
    child.kill('SIGKILL');
    await ended;
  });

  await expireLease(id);
  const { code, said } = await scanOf(folder).ended;
  expect(said).toContain(
    `files ${FILES.toLocaleString('en')}, added ${AFTER}, changed 0, moved 0, missing 0`,
  );
  expect(code).toBe(0);
  const { rows } = await sql`
    select count(*)::int as assets, count(distinct a.root_path)::int as paths, count(distinct a.file_hash)::int as hashes,
      (select count(*)::int from root_files f join assets b on b.id = f.asset_id and b.file_hash = f.hash
        where f.root_id = ${id} and f.missing_since is null) as files,
      (select count(*)::int from graphile_worker.jobs j join assets b on j.key = 'extract:' || b.id
        where b.root_id = ${id}) as extracts,
      (select count(*)::int from graphile_worker.jobs j where j.task_identifier = 'render') as renders
    from assets a where a.root_id = ${id}`.execute(db);
  expect(rows).toEqual([
    { assets: FILES, paths: FILES, hashes: FILES, files: FILES, extracts: FILES, renders: FILES },
  ]);
});

// ROOT-9, ROOT-17
test('files that a scan had stored when it was killed are stacked by the next one', async () => {
  const folder = await mkdtemp(join(await temporaryDirectory(), 'root-'));
  await writeFile(join(folder, 'IMG_1.JPG'), await jpeg(64, 48));
  await writeFile(join(folder, 'IMG_1.cr3'), textOf(0));
  const { id } = await admin.ok('createRoot', {
    body: { path: folder, owner_ref: admin.ref, sensitivity: 'org' },
  });
  await db.transaction().execute(async (tx) => {
    await sql`lock table stacked_assets in share mode`.execute(tx);
    const { child, ended } = scanOf(folder);
    await expect.poll(() => countAssets(id)).toBe(2);
    child.kill('SIGKILL');
    await ended;
  });
  await expireLease(id);
  expect((await scanOf(folder).ended).code).toBe(0);
  const { rows } =
    await sql`select count(*)::int as stacked, (select unstacked_from from roots where id = ${id}) as left
    from stacked_assets s join assets a on a.id = s.asset_id where a.root_id = ${id}`.execute(db);
  expect(rows).toEqual([{ stacked: 2, left: null }]);
});
