import { rm } from 'node:fs/promises';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { writeSetting } from '../../src/core/settings.ts';
import { countStorageOnce } from '../../src/operate/storage/overview.ts';
import { openLibrary, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { jpeg, plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');

const overview = () => root.ok('getStorage');
const countNow = async () => {
  await root.ok('countStorage');
  await library.runJobs();
  await expect.poll(async () => (await overview()).counting).toBe(false);
  const { counted } = await overview();
  if (counted === null) throw new Error('nothing was counted');
  return counted;
};

describe('what the library holds', () => {
  // ADMIN-6
  test('is unknown before the first count, except the disk', async () => {
    const { counted, counting, disk } = await overview();
    expect([counted, counting]).toEqual([null, false]);
    expect(disk.total_bytes).toBeGreaterThan(disk.free_bytes);
    expect(disk.free_bytes).toBeGreaterThan(0);
  });

  test('is counted at the first start of a worker', async () => {
    const waiting = async () =>
      (await root.ok('listJobs', { query: { name: 'count-storage' } })).items.length;
    await countStorageOnce(db);
    await countStorageOnce(db);
    expect([await waiting(), (await overview()).counting]).toEqual([1, true]);
    await library.runJobs();
    await expect.poll(waiting).toBe(0);
    await countStorageOnce(db);
    expect([await waiting(), (await overview()).counting]).toEqual([0, false]);
  });

  // ADMIN-6
  test('has files, renditions, types, trash and orphans, with the time of the count', async () => {
    const before = new Date().toISOString();
    const [text, picture] = [plainFile('storage'), await jpeg(64, 48)];
    await upload(root, text, {}, 'a.txt');
    const shared = await upload(root, picture);
    await root.ok('createAsset', { body: { file_hash: shared.file_hash ?? '' } });
    await library.runJobs();
    const counted = await countNow();
    const { rows } = await sql<{ n: number; bytes: number }>`
      select count(*) as n, sum(bytes) as bytes from (select distinct r.value ->> 'object', (r.value ->> 'bytes')::bigint as bytes
        from files f, jsonb_each(f.renditions) r) x`.execute(db);
    expect(rows[0]?.n).toBeGreaterThan(0);
    expect(counted.as_of >= before).toBe(true);
    expect(counted.files).toEqual({ count: 2, bytes: text.length + picture.length });
    expect(counted.renditions).toEqual({ count: rows[0]?.n, bytes: rows[0]?.bytes });
    for (const none of [counted.unreferenced, counted.trash]) expect(none).toEqual({ count: 0, bytes: 0 });
    // Bytes shared by two assets are stored once, and count for both assets by type.
    const filled = counted.by_type.filter(({ count }) => count > 0);
    const image = filled.find(({ code }) => code === 'image');
    expect(image).toMatchObject({ count: 2, bytes: 2 * picture.length });
    expect(filled.reduce((sum, { count }) => sum + count, 0)).toBe(3);

    await root.ok('deleteAsset', { params: { id: shared.id }, body: undefined });
    const later = await countNow();
    expect([later.files, later.trash]).toEqual([counted.files, { count: 1, bytes: picture.length }]);
    const left = later.by_type.find(({ code }) => code === 'image');
    expect(left).toMatchObject({ count: 1, bytes: picture.length });

    await sql`delete from assets`.execute(db);
    const last = await countNow();
    expect(last.unreferenced).toEqual(counted.files);
    expect(last.trash).toEqual({ count: 0, bytes: 0 });
  });

  test('is counted once for repeated requests', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => root.ok('countStorage')));
    expect(answers.map(({ counting }) => counting)).toEqual([true, true, true]);
    const { items } = await root.ok('listJobs', { query: { name: 'count-storage' } });
    expect(items.length).toBe(1);
    await library.runJobs();
    await expect.poll(async () => (await overview()).counting).toBe(false);
  });

  test('is consistent while a count ends', async () => {
    const counted = await countNow();
    await sql`delete from settings where key = 'storage_count'`.execute(db);
    await countStorageOnce(db);
    // The query whether a count is running waits until the count is done.
    const asked: ReturnType<typeof overview>[] = [];
    await db.transaction().execute(async (tx) => {
      await sql`lock table graphile_worker._private_jobs in access exclusive mode`.execute(tx);
      asked.push(overview());
      expect(await comeToWait(db)).toBe(true);
      await writeSetting(tx, 'storage_count', counted);
      await sql`delete from graphile_worker._private_jobs where key = 'count-storage'`.execute(tx);
    });
    expect(await Promise.all(asked)).toMatchObject([{ counting: false, counted }]);
  });

  test('ignores figures of another version', async () => {
    await sql`update settings set value = '{"as_of": "long ago"}' where key = 'storage_count'`.execute(db);
    expect((await overview()).counted).toBeNull();
  });
});

test('answers 500 instead of wrong figures when the data directory is missing', async () => {
  const other = await openLibrary();
  const chief = await other.join('chief', 'admin');
  await rm(other.config.dataDir, { recursive: true });
  expect((await chief.send('/admin/system/storage')).status).toBe(500);
});
