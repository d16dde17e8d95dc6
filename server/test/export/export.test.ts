import { mkdir, readFile, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { callerOf } from '../../src/access/caller-of.ts';
import { writeExport } from '../../src/operate/export/library.ts';
import { sentence } from '../../src/platform/language/sentence.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import type { Storage } from '../../src/platform/storage/storage.ts';
import { fill, scratchDirectory } from '../backup/kit.ts';
import { objectPath, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg, plainFile, sha256 } from '../support/pictures.ts';
import { faultsOfBag, filesBelow } from './bag.ts';

const library = await openLibrary();
const { db, storage } = library.deps;
const { root, mara } = await fill(library);

const exportTo = (directory: string, from: Pick<Storage, 'get'> = storage) =>
  writeExport(db, from, directory, null);

/** Finds the only file of an export whose path matches. */
async function pathOf(directory: string, pattern: RegExp): Promise<string> {
  const found = (await filesBelow(directory)).filter((path) => pattern.test(path));
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

describe('an export of a library', () => {
  // EXPORT-1, EXPORT-2
  test('is a bag with originals, sidecars, posts, comments and rows', async () => {
    const directory = await scratchDirectory();
    const asset = await upload(
      mara,
      await jpeg(40, 30, { seed: 21 }),
      { title: 'Boats <at> dawn' },
      'boats.jpg',
    );
    const post = await publish(mara, [asset], { title: 'Harbour & <sea>', tags: ['sea'] });
    await root.ok('createComment', { params: { id: post.id }, body: { body: 'What a <b>light</b>' } });
    await exportTo(directory);
    expect(await faultsOfBag(directory)).toEqual([]);

    const original = await pathOf(directory, /\/boats [0-9a-f]{8}\.jpg$/);
    expect(sha256(await readFile(join(directory, original)))).toBe(asset.file_hash);
    expect(await readFile(join(directory, `${original}.xmp`), 'utf8')).toContain('Boats &lt;at&gt; dawn');
    const page = await pathOf(directory, /Harbour & _sea_ [0-9a-f]{8}\.html$/);
    const html = await readFile(join(directory, page), 'utf8');
    expect(html).toContain('What a &lt;b&gt;light&lt;/b&gt;');
    expect(html).toContain(encodeURIComponent(original.split('/').at(-1) ?? ''));
    const read: unknown = JSON.parse(await readFile(join(directory, page.replace(/html$/, 'json')), 'utf8'));
    expect(read).toMatchObject({
      id: post.id,
      title: 'Harbour & <sea>',
      author: { username: 'mara' },
      tags: ['sea'],
      members: [{ asset_id: asset.id, path: original }],
      comments: [{ body: 'What a <b>light</b>', author: { username: 'root' } }],
    });
  });

  // EXPORT-4
  test('has no hashes of passwords, no tokens and no secrets of this installation', async () => {
    const directory = await scratchDirectory();
    const { id } = await upload(mara, plainFile('linked'), {}, 'linked.bin');
    await mara.ok('createAssetLink', { params: { id }, body: { password: 'behind the door' } });
    await exportTo(directory);
    const { rows } = await sql<{ secret: string }>`
      select password_hash as secret from users where password_hash is not null
      union all select encode(token_hash, 'hex') from sessions
      union all select encode(token_hash, 'hex') from access_tokens
      union all select encode(token_hash, 'hex') from share_links
      union all select password_hash from share_links where password_hash is not null
      union all select encode(token_hash, 'hex') from link_guests
      union all select encode(sealed_secret, 'hex') from two_factor
      union all select value ->> 'hash' from settings where key = 'secret_key' and value ->> 'hash' is not null
      union all select value #>> '{}' from settings where key = 'scramble_key'`.execute(db);
    expect(rows.length).toBeGreaterThan(5);
    for (const path of await filesBelow(directory)) {
      const text = await readFile(join(directory, path), 'latin1');
      expect([path, rows.filter(({ secret }) => text.includes(secret))]).toEqual([path, []]);
    }
  });

  // EXPORT-8
  test('gives every file a unique name that is valid on every file system', async () => {
    const directory = await scratchDirectory();
    const names = [
      '../../etc/passwd',
      'NUL.jpg',
      'Ünï☃.jpg',
      'ünï☃.JPG',
      'a:b*c?.txt',
      '100%25 done.txt',
      `${'𝔘'.repeat(200)}.txt`,
      '...',
      'x',
    ];
    for (const [at, name] of names.entries())
      await upload(mara, plainFile(`named ${at}`), {}, name.includes('/') ? `n${at}` : name);
    // No upload keeps such a name, but another program may have written the row.
    await sql`update assets set file_name = '../../etc/passwd' where file_name = 'n0'`.execute(db);
    await exportTo(directory);
    expect(await faultsOfBag(directory)).toEqual([]);
    const paths = await filesBelow(directory);
    const folded = new Set(paths.map((path) => path.normalize('NFKC').toLowerCase()));
    expect(folded.size).toBe(paths.length);
    for (const part of new Set(paths.flatMap((path) => path.split('/')))) {
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(255);
      expect(part).not.toMatch(/[\\:*?"<>|%]|[\s.]$|^(?:nul|con|aux)\.|\p{Cc}/iu);
    }
    expect(paths.filter((path) => /etc_passwd|passwd [0-9a-f]{8}/.test(path))).toHaveLength(2);
  });

  // EXPORT-5
  test('writes only what has changed, and lists what it removes', async () => {
    const directory = await scratchDirectory();
    const gone = await upload(mara, plainFile('soon gone'), {}, 'gone.bin');
    const kept = await upload(mara, plainFile('stays'), { title: 'Before' }, 'kept.bin');
    const first = await exportTo(directory);
    const original = await pathOf(directory, /\/kept [0-9a-f]{8}\.bin$/);
    const goneAt = await pathOf(directory, /\/gone [0-9a-f]{8}\.bin$/);
    const before = await stat(join(directory, original));
    expect(await exportTo(directory)).toMatchObject({ written: 0, unchanged: first.files, removed: 0 });

    await mara.ok('updateAsset', { params: { id: kept.id }, body: { title: 'After' } });
    await sql`delete from assets where id = ${gone.id}`.execute(db);
    await sql`delete from files where hash = ${gone.file_hash}`.execute(db);
    const second = await exportTo(directory);
    expect(second.removed).toBe(2);
    expect(await faultsOfBag(directory)).toEqual([]);
    expect(await stat(join(directory, original))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    expect(await readFile(join(directory, `${original}.xmp`), 'utf8')).toContain('After');
    const removed = (await readFile(join(directory, 'vitrine-export/removed.txt'), 'utf8')).split('\n');
    expect(removed).toEqual([goneAt, `${goneAt}.xmp`, '']);
    await expect(stat(join(directory, goneAt))).rejects.toThrow('ENOENT');
  });

  // EXPORT-5
  test('writes a file again that somebody has changed since', async () => {
    const directory = await scratchDirectory();
    await exportTo(directory);
    const [sidecar = '', other = ''] = (await filesBelow(directory)).filter((path) => path.endsWith('.xmp'));
    await truncate(join(directory, sidecar), 10);
    await utimes(join(directory, other), 1, 1);
    expect(await exportTo(directory)).toMatchObject({ written: 2 });
    expect(await faultsOfBag(directory)).toEqual([]);
  });

  // EXPORT-6
  test('continues where it was interrupted, and is not a bag until it is complete', async () => {
    const directory = await scratchDirectory();
    const reads: string[] = [];
    const failing = (after: number): Pick<Storage, 'get'> => ({
      get: async (key, bytes) => {
        if (reads.length >= after) throw new Error('killed');
        reads.push(key);
        return storage.get(key, bytes);
      },
    });
    await expect(exportTo(directory, failing(2))).rejects.toThrow('killed');
    expect(await faultsOfBag(directory)).toEqual(['bagit.txt is missing or wrong']);
    // As a kill leaves them: a file half-written, a line cut off, and a file that no list names yet.
    await writeFile(join(directory, 'vitrine-export/temporary-killed'), 'half');
    await writeFile(join(directory, 'vitrine-export/files.present.jsonl'), '{"key":"9', { flag: 'a' });
    const vanished = await upload(mara, plainFile('vanishes'), {}, 'vanishes.bin');
    await expect(exportTo(directory, failing(4))).rejects.toThrow('killed');
    await sql`delete from assets where id = ${vanished.id}`.execute(db);
    await sql`delete from files where hash = ${vanished.file_hash}`.execute(db);
    const { unchanged } = await exportTo(directory, failing(1000));
    // All tables but those that changed, and the originals that were complete.
    expect(unchanged).toBeGreaterThan(60);
    expect(await faultsOfBag(directory)).toEqual([]);
    expect((await filesBelow(directory)).filter((path) => path.includes('temporary'))).toEqual([]);
  });

  // EXPORT-7
  test('refuses a directory with something else in it, and follows no link', async () => {
    const strange = await scratchDirectory();
    await writeFile(join(strange, 'letter.txt'), 'mine');
    await expect(exportTo(strange)).rejects.toThrow(/is not empty and has no earlier export/);
    expect(await filesBelow(strange)).toEqual(['letter.txt']);

    const directory = await scratchDirectory();
    const elsewhere = await scratchDirectory();
    await exportTo(directory);
    await expect(writeExport(db, storage, directory, { ...(await callerOfMara()) })).rejects.toThrow(
      /has the export of something else/,
    );
    const sidecar = (await filesBelow(directory)).find((path) => path.endsWith('.xmp')) ?? '';
    const target = join(elsewhere, 'precious');
    await writeFile(target, 'precious');
    await rm(join(directory, sidecar));
    await symlink(target, join(directory, sidecar));
    await exportTo(directory);
    expect(await readFile(target, 'utf8')).toBe('precious');
    expect(await faultsOfBag(directory)).toEqual([]);

    const folder = dirname(join(directory, sidecar));
    await rm(folder, { recursive: true });
    await symlink(elsewhere, folder);
    await expect(exportTo(directory)).rejects.toThrow(/is no directory of the export/);
    expect(await filesBelow(elsewhere)).toEqual(['precious']);
  });

  // EXPORT-7
  test('removes nothing outside its directory that a forged list names', async () => {
    const directory = await scratchDirectory();
    const outside = join(directory, '..', `outside-${process.pid}`);
    await mkdir(outside, { recursive: true });
    await writeFile(join(outside, 'file'), 'stays');
    await exportTo(directory);
    const forged = {
      key: '0',
      path: `data/../../outside-${process.pid}/file`,
      sha256: 'x',
      bytes: 5,
      modified: 1,
    };
    const list = join(directory, 'vitrine-export/files.jsonl');
    await writeFile(list, `${JSON.stringify(forged)}\n${await readFile(list, 'utf8')}`);
    await exportTo(directory);
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('stays');
    await rm(outside, { recursive: true });
  });

  // EXPORT-9
  test('names files that the library has lost, and leaves them out', async () => {
    const directory = await scratchDirectory();
    const lost = await upload(mara, plainFile('will be damaged'), {}, 'damaged.bin');
    const path = objectPath(library, originalKey(lost.file_hash ?? ''));
    const bytes = await readFile(path);
    await writeFile(path, 'w'.repeat(bytes.length));
    const result = await exportTo(directory);
    expect(result.lost).toEqual([
      {
        path: expect.stringMatching(/damaged [0-9a-f]{8}\.bin$/),
        reason: sentence('its stored bytes have another hash'),
      },
    ]);
    expect(await faultsOfBag(directory)).toEqual([]);
    await writeFile(path, bytes);
    expect(await exportTo(directory)).toMatchObject({ lost: [], written: 1 });
  });
});

async function callerOfMara() {
  const caller = await callerOf(db, mara.ref);
  if (caller === null) throw new Error('no account');
  return caller;
}
