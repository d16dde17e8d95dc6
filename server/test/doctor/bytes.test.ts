import { createHash } from 'node:crypto';
import { rm, truncate, writeFile } from 'node:fs/promises';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { type BytesReport, checkBytes } from '../../src/doctor/bytes.ts';
import { doctorCommand } from '../../src/doctor/command.ts';
import { logoKey, originalKey, renditionKey } from '../../src/platform/storage/object-key.ts';
import { type Account, type Library, objectPath, openLibrary, upload } from '../support/library.ts';
import { jpeg, plainText, png } from '../support/pictures.ts';

let library: Library;
let root: Account;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
});

afterEach(async () => {
  const { db } = library.deps;
  await db.deleteFrom('assets').execute();
  await db.deleteFrom('files').execute();
  await db.deleteFrom('logos').execute();
});

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function pathOf(key: string): string {
  return objectPath(library, key);
}

interface Checked extends BytesReport {
  lines: string[];
}

async function check(options: Partial<Parameters<typeof checkBytes>[1]> = {}): Promise<Checked> {
  const lines: string[] = [];
  const report = await checkBytes(library.deps, {
    after: '',
    repair: false,
    signal: new AbortController().signal,
    print: (line) => lines.push(line),
    progress: () => {},
    ...options,
  });
  return { ...report, lines };
}

test('names every lost original with its assets, titles and owners', async () => {
  const texts = ['whole', 'cut short', 'missing', 'changed'].map((text) => plainText(text));
  const assets = [];
  for (const [at, bytes] of texts.entries())
    assets.push(await upload(root, bytes, { title: `Note "${at}"\u001b[2J` }, 'note.txt'));
  const [, short, missing, changed] = texts.map((bytes) => originalKey(sha256(bytes)));
  await root.ok('deleteAsset', { params: { id: assets[2]?.id ?? '' }, body: {} });
  await truncate(pathOf(short ?? ''), 3);
  await rm(pathOf(missing ?? ''));
  await writeFile(pathOf(changed ?? ''), 'CHANGED');
  const { lines, ...report } = await check();
  expect(report).toMatchObject({ files: 4, lost: 3, previews: 0, stoppedAfter: null });
  const text = lines.join('\n');
  expect(text).toContain(
    `LOST      ${short}: has 3 of 9 bytes\n  asset ${assets[1]?.id} "Note \\"1\\"\\u001b[2J" of "root"`,
  );
  expect(text).toContain(`LOST      ${missing}: missing\n  asset ${assets[2]?.id}`);
  expect(text).toMatch(/of "root", in the trash/);
  expect(text).toContain(`LOST      ${changed}: its content has changed\n  asset ${assets[3]?.id}`);
  expect(text).not.toContain(assets[0]?.id);
});

test('names a lost logo', async () => {
  const bytes = await png(64, 64);
  const hash = sha256(bytes);
  await library.deps.db
    .insertInto('logos')
    .values({ hash, content_type: 'image/png', width: 64, height: 64, size_bytes: bytes.length })
    .execute();
  expect((await check()).lines).toEqual([`LOST      ${logoKey(hash)}: missing`]);
});

test('reports damaged previews, and renders them again with repair, unless the original is lost', async () => {
  const bytes = await jpeg(60, 40);
  const asset = await upload(root, bytes);
  await library.runJobs();
  expect(await check()).toMatchObject({ lost: 0, previews: 0, lines: [] });
  const preview = pathOf(renditionKey(sha256(bytes), 'col.webp'));
  await truncate(preview, 10);
  const found = await check();
  expect(found).toMatchObject({ lost: 0, previews: 1, repairing: 0 });
  expect(found.lines).toEqual([
    expect.stringMatching(/col.* missing or damaged; --repair renders them again$/),
  ]);
  expect(await check({ repair: true })).toMatchObject({ previews: 1, repairing: 1 });
  await library.runJobs();
  expect(await check()).toMatchObject({ previews: 0 });
  expect(await root.ok('getAsset', { params: { id: asset.id } })).toMatchObject({ ladder_available: true });

  await truncate(preview, 10);
  await truncate(pathOf(originalKey(sha256(bytes))), 10);
  expect(await check({ repair: true })).toMatchObject({ lost: 1, previews: 1, repairing: 0 });
});

test('reports where a stopped check can resume', async () => {
  const hashes: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    const bytes = plainText(`file ${at}`);
    await upload(root, bytes, {}, 'note.txt');
    hashes.push(sha256(bytes));
  }
  hashes.sort();
  for (const hash of hashes) await rm(pathOf(originalKey(hash)));
  const stop = new AbortController();
  const { signal } = stop;
  const first = await check({ signal, progress: ({ files }) => files === 2 && stop.abort() });
  expect(first).toMatchObject({ files: 2, lost: 2, stoppedAfter: hashes[1] });
  expect(await check({ after: first.stoppedAfter ?? '' })).toMatchObject({ files: 3, lost: 3 });
});

test('exits with 1 from vitrine doctor --bytes when something is lost, beside a running library', async () => {
  const config = { ...library.config, databaseUrl: library.databaseUrl };
  const run = async (...args: string[]) => {
    const lines: string[] = [];
    const code = await doctorCommand(config, args, (line) => lines.push(line));
    return { code, last: lines.at(-1) };
  };
  const bytes = plainText('to be lost');
  await upload(root, bytes, {}, 'note.txt');
  expect(await run('--bytes')).toEqual({
    code: 0,
    last: 'checked: 1 file, 10 bytes; lost: 0, with damaged previews: 0',
  });
  await rm(pathOf(originalKey(sha256(bytes))));
  expect((await run('--bytes')).code).toBe(1);
  await upload(root, bytes, {}, 'note.txt');
  expect((await run('--bytes')).code).toBe(0);
  await expect(run('--repair')).rejects.toThrow('--repair and --after go with --bytes');
  await expect(run('--bytes', '--after', 'x')).rejects.toThrow('64 hex digits');
  await expect(run('--byte')).rejects.toThrow("Unknown option '--byte'");
});
