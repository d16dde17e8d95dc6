import { randomBytes } from 'node:crypto';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { ConfigError } from '../../src/core/config.ts';
import { checkStorage } from '../../src/operate/storage/check.ts';
import { storageCommand } from '../../src/operate/storage/command.ts';
import { type Direction, moveStorage } from '../../src/operate/storage/move.ts';
import { findOrphans, removeOrphans } from '../../src/operate/storage/sweep/orphans.ts';
import { type Sentence, saySentence } from '../../src/platform/language/sentence.ts';
import { originalKey, renditionKey } from '../../src/platform/storage/object-key.ts';
import { openDiskAndBucket } from '../../src/platform/storage/open.ts';
import type { Storage } from '../../src/platform/storage/storage.ts';
import { namedService, openBucket, startService } from '../support/bucket.ts';
import { requestAs } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { jpeg, plainFile, sha256 } from '../support/pictures.ts';

/** A time after everything that the tests store. */
const FUTURE = Date.now() + 3600 * 1000;

const service = namedService ?? (await startService());
const bucket = await openBucket(service);
const library = await openLibrary(bucket.env);
const mara = await library.join('mara');
const sides = await openDiskAndBucket(join(library.config.dataDir, 'library'), 0, bucket.settings);

afterAll(async () => {
  await bucket.close();
  await service.stop();
});

beforeEach(() => bucket.setFault('none'));

const read = (id: string) => requestAs(mara, library, `/assets/${id}/file`);

async function put(storage: Storage, key: string, content: string): Promise<void> {
  const path = join(storage.incomingDir, `put-${sha256(Buffer.from(key))}`);
  await writeFile(path, content);
  await storage.adopt(path, key);
}

async function keysOf(storage: Storage): Promise<string[]> {
  const keys: string[] = [];
  for (const prefix of ['originals', 'renditions', 'subtitles', 'logos'])
    keys.push(...(await Array.fromAsync(storage.list(prefix), ({ key }) => key)));
  return keys;
}

const usual = { signal: new AbortController().signal, progress: () => {} };

async function check(content: boolean) {
  const lines: string[] = [];
  const tell = (line: Sentence) => lines.push(saySentence('en', line));
  const report = await checkStorage(library.deps, { ...usual, content, olderThan: FUTURE, tell });
  return { ...report, lines: lines.sort() };
}

async function move(direction: Direction) {
  const lines: string[] = [];
  const tell = (line: Sentence) => lines.push(saySentence('en', line));
  const report = await moveStorage(library.deps.db, direction, { ...usual, tell });
  return { ...report, lines };
}

/** Runs `vitrine storage` in this process. */
async function command(...args: string[]): Promise<{ code: number; output: string }> {
  const lines: string[] = [];
  const config = { ...library.config, databaseUrl: library.databaseUrl };
  const code = await storageCommand(config, args, (line) => lines.push(line));
  return { code, output: lines.join('\n') };
}

// STORAGE-3
test('check names missing, wrong and orphaned objects, and changed content when it reads them', async () => {
  const [sound, missing, short, changed] = await Promise.all(
    ['sound', 'missing', 'short', 'changed'].map((name) => upload(mara, plainFile(`checked ${name}`))),
  );
  const picture = await upload(mara, await jpeg(60, 40));
  await library.runJobs();
  expect(await check(true)).toMatchObject({ missing: 0, wrong: 0, orphans: 0, lines: [] });

  const keyOf = (asset: typeof sound) => originalKey(asset?.file_hash ?? '');
  await sides.bucket.delete(keyOf(missing));
  await put(sides.bucket, keyOf(short), 'short');
  await put(sides.bucket, keyOf(changed), 'x'.repeat(changed?.file_size_bytes ?? 0));
  const rendition = renditionKey(picture.file_hash ?? '', 'col.webp');
  await put(sides.bucket, rendition, 'no picture');
  const orphan = originalKey(sha256(Buffer.from('an orphan')));
  await put(sides.bucket, orphan, 'an orphan');
  const differences = [
    `MISSING  ${keyOf(missing)}`,
    `ORPHAN   ${orphan} (9 bytes)`,
    `WRONG    ${keyOf(short)}: has 5 of ${short?.file_size_bytes} bytes`,
  ];
  const quick = await check(false);
  expect(quick).toMatchObject({ missing: 1, wrong: 2, orphans: 1, orphanBytes: 9 });
  expect(quick.lines).toEqual(expect.arrayContaining(differences));
  expect(quick.lines.join('\n')).toContain(rendition);
  const thorough = await check(true);
  expect(thorough).toMatchObject({ missing: 1, wrong: 3, orphans: 1 });
  expect(thorough.lines).toContain(`WRONG    ${keyOf(changed)}: its content has changed`);

  const { code, output } = await command('check');
  expect(code).toBe(1);
  expect(output).toContain(`MISSING  ${keyOf(missing)}`);
  expect(output).toMatch(/missing: 1, wrong: 2, orphans: 0 /);
  expect(output).not.toContain(bucket.settings.secretAccessKey);

  // Uploading the files again repairs them.
  for (const name of ['missing', 'short', 'changed']) await upload(mara, plainFile(`checked ${name}`));
  await upload(mara, await jpeg(60, 40));
  await library.runJobs();
  expect(await check(true)).toMatchObject({ missing: 0, wrong: 0 });
});

// STORAGE-5
test('gc removes objects without a row that are older than the grace time, and nothing else', async () => {
  const kept = await upload(mara, plainFile('kept by gc'));
  const before = await keysOf(library.deps.storage);
  const orphans = ['originals', 'renditions', 'subtitles'].map((kind) => {
    const hash = sha256(randomBytes(8));
    return `${kind}/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}${kind === 'renditions' ? '/col.webp' : ''}`;
  });
  const logo = `logos/${sha256(randomBytes(8))}`;
  for (const key of [...orphans, logo]) await put(sides.bucket, key, 'nobody needs this');
  const onDisk = originalKey(sha256(randomBytes(8)));
  await put(sides.disk, onDisk, 'nor this');

  expect(await removeOrphans(library.deps, Date.now() - 3600 * 1000)).toBe(0);
  const young = await command('gc', '--dry-run');
  expect(young.output).toContain('orphans: 0 objects');
  const all = await command('gc', '--grace', '0', '--dry-run');
  for (const key of [...orphans, logo, onDisk]) expect(all.output).toContain(`ORPHAN   ${key}`);
  expect(await keysOf(library.deps.storage)).toContain(logo);

  const { code, output } = await command('gc', '--grace', '0');
  expect(code).toBe(0);
  expect(output).toMatch(/removed: \d+ objects/);
  const after = new Set(await keysOf(library.deps.storage));
  for (const key of [...orphans, logo, onDisk]) expect(after.has(key), key).toBe(false);
  const earlier = sha256(Buffer.from('an orphan'));
  expect(before.filter((key) => !after.has(key) && !key.includes(earlier))).toEqual([]);
  expect((await read(kept.id)).status).toBe(200);
});

// STORAGE-5
test('gc never removes bytes that are concurrently uploaded again', async () => {
  for (let round = 0; round < 2; round += 1) {
    const bytes = Uint8Array.from(randomBytes(40_000));
    await put(sides.bucket, originalKey(sha256(bytes)), 'x');
    const path = join(sides.disk.incomingDir, `again-${round}`);
    await writeFile(path, bytes);
    // The orphan has the right content, so that the upload does not send it again.
    await sides.bucket.adopt(path, originalKey(sha256(bytes)));
    const [asset] = await Promise.all([
      upload(mara, bytes),
      removeOrphans(library.deps, FUTURE),
      removeOrphans(library.deps, FUTURE),
    ]);
    const sent = await read(asset.id);
    expect([sent.status, sha256(await sent.bytes())]).toEqual([200, sha256(bytes)]);
  }
});

// STORAGE-4
test('move takes every file to the other place while they are read, and can be stopped and repeated', async () => {
  const files = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => upload(mara, plainFile(`moved ${n}`))),
  );
  await upload(mara, await jpeg(60, 40, { seed: 9 }));
  await library.runJobs();
  for await (const { key } of findOrphans(library.deps, FUTURE)) await library.deps.storage.delete(key);
  const all = (await keysOf(sides.bucket)).sort();
  expect(await keysOf(sides.disk)).toEqual([]);

  let isReading = true;
  const readers = [0, 1].map(async (first) => {
    let count = 0;
    for (let n = first; isReading; n = (n + 2) % files.length) {
      const sent = await read(files[n]?.id ?? '');
      expect([sent.status, sha256(await sent.bytes())]).toEqual([200, files[n]?.file_hash]);
      count += 1;
    }
    return count;
  });

  const stop = new AbortController();
  const some = await moveStorage(
    library.deps.db,
    { from: sides.bucket, to: sides.disk },
    { signal: stop.signal, tell: () => {}, progress: ({ moved }) => moved === 3 && stop.abort() },
  );
  expect(some.moved).toBeGreaterThanOrEqual(3);
  expect(some.moved).toBeLessThan(all.length);
  expect(await move({ from: sides.bucket, to: sides.disk })).toMatchObject({ left: 0, lines: [] });
  expect([(await keysOf(sides.disk)).sort(), await keysOf(sides.bucket)]).toEqual([all, []]);

  // A damaged file stays on the disk.
  const damaged = originalKey(files[3]?.file_hash ?? '');
  const path = join(library.config.dataDir, 'library', damaged);
  isReading = false;
  for (const count of await Promise.all(readers)) expect(count).toBeGreaterThan(0);
  const sound = await (await read(files[3]?.id ?? '')).bytes();
  await writeFile(path, Buffer.alloc(sound.length, 'x'));

  const { code, output } = await command('move');
  expect([code, output]).toEqual([
    1,
    expect.stringContaining(`LEFT     ${damaged}: its content has changed`),
  ]);
  expect(await keysOf(sides.disk)).toEqual([damaged]);
  await writeFile(path, sound);
  await utimes(path, new Date(), new Date());
  expect((await command('move')).code).toBe(0);
  expect([(await keysOf(sides.bucket)).sort(), await keysOf(sides.disk)]).toEqual([all, []]);
  expect(await check(true)).toMatchObject({ missing: 0, wrong: 0 });
});

// STORAGE-4
test('move stops with one line while the bucket is unavailable, and keeps every file', async () => {
  const { id } = await upload(mara, plainFile('moved later'));
  await move({ from: sides.bucket, to: sides.disk });
  bucket.setFault('gone');
  const { code, output } = await command('move');
  expect([code, output]).toEqual([1, expect.stringMatching(/^the file storage is not available: .+$/m)]);
  bucket.setFault('none');
  expect((await command('move')).code).toBe(0);
  expect((await read(id)).status).toBe(200);
});

test('a file that is removed while it is moved does not come back', async () => {
  const asset = await upload(mara, plainFile('removed meanwhile'));
  const key = originalKey(asset.file_hash ?? '');
  const slow: Storage = {
    ...sides.disk,
    async stage(path, to) {
      if (to === key) await library.deps.storage.delete(key);
      await sides.disk.stage(path, to);
    },
  };
  await move({ from: sides.bucket, to: slow });
  expect(await library.deps.storage.head(key)).toBeNull();
  await sql`delete from assets where id = ${asset.id}`.execute(library.deps.db);
  await sql`delete from files where hash = ${asset.file_hash}`.execute(library.deps.db);
  await move({ from: sides.disk, to: sides.bucket });
});

test.each([
  [['tidy'], 'choose a command: vitrine storage check|move|gc'],
  [['gc', '--content'], '--content is only for check'],
  [['move', '--dry-run'], '--dry-run is only for gc'],
  [['gc', '--grace', 'soon'], '--grace takes a number of hours'],
])('%j is refused', async (args, message) => {
  await expect(command(...args)).rejects.toThrow(message);
});

// LANGUAGE-7
test('prints in the language of the locale', async () => {
  const lines: string[] = [];
  const config = { ...library.config, databaseUrl: library.databaseUrl, language: 'de' } as const;
  await storageCommand(config, ['gc', '--dry-run'], (line) => lines.push(line));
  expect(lines.at(-1)).toMatch(/^verwaist: \d+ Objekte?, \d+ Bytes?$/);
});

test('move needs a bucket', async () => {
  const config = { ...library.config, databaseUrl: library.databaseUrl, s3: null };
  await expect(storageCommand(config, ['move'], () => {})).rejects.toThrow(ConfigError);
});
