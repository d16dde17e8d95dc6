import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ShownAsset } from '@vitrine/contract/assets';
import type { RootCreate } from '@vitrine/contract/roots';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { runScan } from '../../src/content/roots/scan.ts';
import { readUserQuota } from '../../src/people/quotas/check.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { clip } from '../media/clips.ts';
import { openLibrary } from '../support/library.ts';
import { jpeg, sha256 } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const place = await temporaryDirectory();
const library = await openLibrary();
const { db, storage } = library.deps;
const admin = await library.join('admin', 'admin');
const mara = await library.join('mara');

const [film, otherFilm, longFilm] = await Promise.all(
  [1, 2, 6].map((seconds) => clip({ format: 'mov', video: { encoder: 'libx264' }, seconds })),
);
let seed = 0;

type Bytes = Uint8Array<ArrayBufferLike> | undefined;

/** Scans a root without the jobs of its assets: previews and streams take long. */
async function scan(id: string) {
  const outcome = await runScan(library.deps, id, true);
  return outcome.state === 'done' ? outcome.counts : expect.fail(outcome.state);
}

async function put(folder: string, files: Record<string, Bytes>): Promise<void> {
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), bytes ?? '');
  }
}

async function openRoot(files: Record<string, Bytes>, rules: Partial<RootCreate> = {}) {
  const folder = await mkdtemp(join(place, 'root-'));
  await put(folder, files);
  const { id } = await admin.ok('createRoot', {
    body: { path: folder, owner_ref: mara.ref, sensitivity: 'public', ...rules },
  });
  await scan(id);
  return { folder, id };
}

async function assetsOf(root: string): Promise<Record<string, ShownAsset>> {
  const { items } = await mara.ok('listAssets', { query: { limit: 200 } });
  return Object.fromEntries(
    items.flatMap((asset) =>
      !asset.restricted && asset.root?.id === root ? [[asset.root.path, asset] as const] : [],
    ),
  );
}

function photo(): Promise<Uint8Array<ArrayBuffer>> {
  seed += 1;
  return jpeg(64, 48, { seed });
}

// ROOT-16, MEDIA-65
test('a photo and a film with its name are one asset, and both files stay where they are', async () => {
  const { id } = await openRoot({
    'May/IMG_1.MOV': film,
    'May/IMG_1.JPG': await photo(),
    'May/b.mov': otherFilm,
  });
  const assets = await assetsOf(id);
  expect(Object.keys(assets).toSorted()).toEqual(['May/IMG_1.JPG', 'May/b.mov']);
  const hash = sha256(film ?? new Uint8Array());
  expect(assets['May/IMG_1.JPG']).toMatchObject({ film: { hash }, title: 'IMG_1' });
  const bytes = await storage.get(originalKey(hash), film?.length ?? 0);
  expect(sha256(Buffer.concat(await bytes.toArray()))).toBe(hash);
  expect(await scan(id)).toMatchObject({ files: 3, added: 0, changed: 0, moved: 0, missing: 0, failed: 0 });
  const { rows } =
    await sql`select from graphile_worker.jobs where key = ${`render:${hash}:${mara.ref}`}`.execute(db);
  expect(rows).toHaveLength(1);
  expect(await readUserQuota(db, mara.ref)).toMatchObject({ used_bytes: 0 });
});

// ROOT-16
test('a film stays with its photo when both are moved, changes with its file, and may be missing alone', async () => {
  const { folder, id } = await openRoot({ 'a/IMG_1.JPG': await photo(), 'a/IMG_1.MOV': film });
  const before = (await assetsOf(id))['a/IMG_1.JPG'];
  await rename(join(folder, 'a'), join(folder, 'b'));
  expect(await scan(id)).toMatchObject({ added: 0, moved: 1, missing: 0, failed: 0 });
  expect(await assetsOf(id)).toEqual({
    'b/IMG_1.JPG': expect.objectContaining({ id: before?.id, film: before?.film }),
  });

  await put(folder, { 'b/IMG_1.MOV': otherFilm });
  expect(await scan(id)).toMatchObject({ added: 0, changed: 1, failed: 0 });
  const hash = sha256(otherFilm ?? new Uint8Array());
  expect(await assetsOf(id)).toEqual({
    'b/IMG_1.JPG': expect.objectContaining({ id: before?.id, film: { hash } }),
  });

  await rm(join(folder, 'b/IMG_1.MOV'));
  await scan(id);
  expect((await assetsOf(id))['b/IMG_1.JPG']).toMatchObject({ film: { hash } });
  expect((await assetsOf(id))['b/IMG_1.JPG']).not.toHaveProperty('missing');
});

// ROOT-16
test('a film beside a photo in the trash is an asset of its own', async () => {
  const { folder, id } = await openRoot({ 'IMG_1.JPG': await photo() });
  const deleted = (await assetsOf(id))['IMG_1.JPG'];
  await mara.ok('deleteAsset', { params: { id: deleted?.id ?? '' } });
  await put(folder, { 'IMG_1.MOV': film });
  expect(await scan(id)).toMatchObject({ added: 1, failed: 0 });
  expect(Object.keys(await assetsOf(id))).toEqual(['IMG_1.MOV']);
});

// ROOT-16
test('a film that came before its photo becomes the film of the photo, unless somebody has edited it', async () => {
  const { folder, id } = await openRoot({ 'IMG_1.MOV': film, 'IMG_2.MOV': otherFilm });
  const edited = (await assetsOf(id))['IMG_2.MOV'];
  await mara.ok('updateAsset', { params: { id: edited?.id ?? '' }, body: { title: 'The quay' } });
  await put(folder, { 'IMG_1.JPG': await photo(), 'IMG_2.JPG': await photo() });
  expect(await scan(id)).toMatchObject({ files: 4, added: 2, changed: 0, missing: 0, failed: 0 });
  const assets = await assetsOf(id);
  expect(Object.keys(assets).toSorted()).toEqual(['IMG_1.JPG', 'IMG_2.JPG', 'IMG_2.MOV']);
  expect(assets['IMG_1.JPG']).toMatchObject({ film: { hash: sha256(film ?? new Uint8Array()) } });
  expect(assets['IMG_2.JPG']?.film).toBeUndefined();
  expect(assets['IMG_2.MOV']?.id).toBe(edited?.id);
  expect(await scan(id)).toMatchObject({ files: 4, added: 0, changed: 0, moved: 0, missing: 0, failed: 0 });
  expect(Object.keys(await assetsOf(id))).toHaveLength(3);
});

// ROOT-16
test('a film that is long is an asset of its own', async () => {
  const { folder, id } = await openRoot({
    'long.jpg': await photo(),
    'long.mov': longFilm,
    'IMG_1.MOV': longFilm,
  });
  await put(folder, { 'IMG_1.JPG': await photo() });
  expect(await scan(id)).toMatchObject({ added: 1, failed: 0 });
  const assets = await assetsOf(id);
  expect(Object.keys(assets).toSorted()).toEqual(['IMG_1.JPG', 'IMG_1.MOV', 'long.jpg', 'long.mov']);
  for (const asset of Object.values(assets)) expect(asset.film).toBeUndefined();
});
