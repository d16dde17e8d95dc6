import { appendFile, cp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { callerOf } from '../../src/access/caller-of.ts';
import { inSnapshot, writeExport } from '../../src/operate/export/library.ts';
import { finishImport, importLibrary } from '../../src/operate/export/restore/library.ts';
import { readShapes, rowsQuery } from '../../src/operate/export/rows.ts';
import { sayError, sentence } from '../../src/platform/language/sentence.ts';
import type { Storage } from '../../src/platform/storage/storage.ts';
import { filesOf, fill, newMachine, scratchDirectory } from '../backup/kit.ts';
import { openLibrary, password, upload } from '../support/library.ts';
import { jpeg, plainFile, sha256 } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { filesBelow } from './bag.ts';

const library = await openLibrary();
const { db, storage } = library.deps;
const { mara } = await fill(library);
const picture = await upload(mara, await jpeg(60, 40, { seed: 5 }), { title: 'Shells' }, 'shells.jpg');
await db.insertInto('settings').values({ key: 'site_name', value: '"Shelf"' }).execute();
await library.runJobs();
const shell = await upload(
  mara,
  plainFile('a\u0001 line\u2028 and 🐚'),
  { title: 'Ünïcode \\ "quoted" \u2028 🐚' },
  'shell.bin',
);
await mara.ok('createStack', { body: { asset_ids: [shell.id, picture.id] } });
const directory = await temporaryDirectory();
await writeExport(db, storage, directory, null);

/** Every row that an export has, by table. */
async function exportedRows(client: pg.Pool): Promise<Record<string, string[]>> {
  const shapes = await inSnapshot(db, readShapes);
  const found: Record<string, string[]> = {};
  for (const shape of shapes) {
    const { rows } = await client.query<{ line: string }>(rowsQuery(shape));
    found[shape.name] = rows.map(({ line }) => line);
  }
  return found;
}

/** Copies the export for a test that changes it. */
async function copyOfExport(): Promise<string> {
  const copy = await scratchDirectory();
  await cp(directory, copy, { recursive: true });
  return copy;
}

/** Replaces a file of an export, and its hash in the manifest. */
async function forge(copy: string, path: string, change: (text: string) => string): Promise<void> {
  const before = await readFile(join(copy, path));
  const after = Buffer.from(change(before.toString()));
  await writeFile(join(copy, path), after);
  const manifest = join(copy, 'manifest-sha256.txt');
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace(sha256(before), sha256(after)));
}

describe('an import of an export', () => {
  // EXPORT-12, EXPORT-2
  test('restores every row and every original, equal one by one, also after a kill', async () => {
    const machine = await newMachine();
    let left = 2;
    const failing: Storage = {
      ...machine.storage,
      adopt: async (path, key) => {
        if (left === 0) throw new Error('killed');
        left -= 1;
        return machine.storage.adopt(path, key);
      },
    };
    await expect(importLibrary(machine.pool, failing, directory)).rejects.toThrow('killed');
    const { lost } = await importLibrary(machine.pool, machine.storage, directory);
    expect(lost).toEqual([]);
    const [before, after] = [await exportedRows(library.database.pool), await exportedRows(machine.pool)];
    expect(Object.keys(after)).toEqual(Object.keys(before));
    for (const [table, rows] of Object.entries(before)) expect([table, after[table]]).toEqual([table, rows]);
    expect(Object.keys(before).length).toBeGreaterThan(60);
    const empty = Object.entries(before).filter(([, rows]) => rows.length === 0);
    expect(empty.map(([table]) => table)).toEqual([]);

    const ours = Object.entries(await filesOf(storage)).filter(([key]) => !key.startsWith('renditions/'));
    expect(await filesOf(machine.storage)).toEqual(Object.fromEntries(ours));
    await finishImport(machine.pool);
    await expect(importLibrary(machine.pool, machine.storage, directory)).rejects.toThrow(/is not empty/);
  });

  // EXPORT-12, EXPORT-16
  test('serves what it has restored, and keeps the passwords of the new library', async () => {
    const other = await openLibrary();
    await other.joinAll('someone', 'mara');
    await importLibrary(other.database.pool, other.deps.storage, directory);
    await other.runJobs();
    const visitor = other.anonymous();
    await visitor.ok('login', { body: { username: 'mara', password } });
    const params = { id: picture.id };
    const [before, after] = [await mara.ok('getAsset', { params }), await visitor.ok('getAsset', { params })];
    expect({ ...after, updated_at: null }).toEqual({ ...before, updated_at: null });
    expect(after).toMatchObject({
      title: 'Shells',
      preview_available: true,
      stack: { assets: [shell.id, picture.id] },
    });
    expect(JSON.stringify(await visitor.ok('search', { query: { q: 'Summer' } }))).toContain('Summer');
    // Sessions and accounts of before: the session of the former second account is nobody's.
    const stranger = other.anonymous();
    await stranger.ok('login', { body: { username: 'someone', password } });
    expect((await stranger.ok('getMe')).username).toBe('someone');
  });

  // EXPORT-13
  test('writes nothing from an export that is damaged, forged, unfinished or of one person', async () => {
    const machine = await newMachine();
    const refused = async (copy: string, reason: RegExp) => {
      await expect(importLibrary(machine.pool, machine.storage, copy)).rejects.toThrow(reason);
      const { rows } = await machine.pool.query<{ found: boolean }>(
        "select to_regclass('public.assets') is not null as found",
      );
      expect(rows).toEqual([{ found: false }]);
    };
    const damaged = await copyOfExport();
    await appendFile(join(damaged, 'data/rows/posts.jsonl'), '{}\n');
    await refused(damaged, /posts.jsonl is damaged/);
    // LANGUAGE-7
    const attempt = importLibrary(machine.pool, machine.storage, damaged);
    const said = await attempt.catch((error: Error) => sayError('de', error));
    expect(said).toMatch(/posts.jsonl ist beschädigt$/);
    const unfit = await copyOfExport();
    await forge(unfit, 'data/rows/posts.jsonl', (text) =>
      text.replace(/"visibility":"[a-z-]+"/, '"visibility":"all"'),
    );
    await refused(unfit, /posts.jsonl does not fit this library: .*posts_visibility_check/);
    const escaping = await copyOfExport();
    await appendFile(join(escaping, 'manifest-sha256.txt'), `${'a'.repeat(64)}  data/../../etc/passwd\n`);
    await refused(escaping, /a line of the manifest is not valid/);
    const linked = await copyOfExport();
    await rm(join(linked, 'data/rows/posts.jsonl'));
    await symlink(join(directory, 'data/rows/posts.jsonl'), join(linked, 'data/rows/posts.jsonl'));
    await refused(linked, /posts.jsonl cannot be read/);
    const newer = await copyOfExport();
    const description = join(newer, 'vitrine-export/export.json');
    await writeFile(
      description,
      (await readFile(description, 'utf8')).replace('0001_foundation', '9999_future'),
    );
    await refused(newer, /was made by a newer Vitrine/);
    const unfinished = await copyOfExport();
    const about = join(unfinished, 'vitrine-export/export.json');
    await writeFile(about, (await readFile(about, 'utf8')).replace('"complete": true', '"complete": false'));
    await refused(unfinished, /is not complete/);
    const own = await scratchDirectory();
    const caller = await callerOf(db, mara.ref);
    await writeExport(db, storage, own, caller);
    await refused(own, /the export of one person/);
    await refused(await scratchDirectory(), /there is no export/);
  });

  // EXPORT-9
  test('names originals that are missing or damaged, and restores the rest', async () => {
    const machine = await newMachine();
    const assets = await db.selectFrom('assets').select('id').execute();
    const copy = await copyOfExport();
    const paths = await filesBelow(copy);
    const [one = '', other = ''] = [/shell [0-9a-f]+\.bin$/, /shells [0-9a-f]+\.jpg$/].map((pattern) =>
      paths.find((path) => pattern.test(path)),
    );
    await rm(join(copy, one));
    await appendFile(join(copy, other), 'x');
    const { lost } = await importLibrary(machine.pool, machine.storage, copy);
    expect(lost.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: one, reason: sentence('it is missing') },
      { path: other, reason: sentence('its bytes have another hash') },
    ]);
    expect((await exportedRows(machine.pool)).assets).toHaveLength(assets.length);
  });
});
