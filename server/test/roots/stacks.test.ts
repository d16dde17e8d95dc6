import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runScan } from '../../src/content/roots/scan.ts';
import { stopTagging, tagFile } from '../media/tagged-files.ts';
import { openLibrary } from '../support/library.ts';
import { jpeg, plainText } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const place = await temporaryDirectory();
afterAll(stopTagging);
const library = await openLibrary();
const admin = await library.join('admin', 'admin');
const mara = await library.join('mara');

// ROOT-17, STACK-6
test('a raw file that a scan adds is stacked with the photo of its name in its folder', async () => {
  const folder = await mkdtemp(join(place, 'root-'));
  const put = async (path: string, bytes: Uint8Array) => {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), bytes);
  };
  await put('May/IMG_1.JPG', await jpeg(64, 48, { seed: 1 }));
  await put('May/IMG_1.cr3', plainText('raw'));
  await put('June/IMG_1.nef', plainText('elsewhere'));
  await put('June/IMG_2.jpg', await jpeg(64, 48, { seed: 2 }));
  const { id } = await admin.ok('createRoot', {
    body: { path: folder, owner_ref: mara.ref, sensitivity: 'public' },
  });
  const scan = async () => {
    expect((await runScan(library.deps, id, true)).state).toBe('done');
    const { items } = await mara.ok('listAssets', { query: { stacks: 'top', sort: 'title' } });
    return items.map((asset) =>
      asset.restricted ? '' : `${asset.root?.path} ${asset.stack?.assets.length ?? 1}`,
    );
  };
  expect((await scan()).toSorted()).toEqual(['June/IMG_1.nef 1', 'June/IMG_2.jpg 1', 'May/IMG_1.JPG 2']);
  await put('June/IMG_2.DNG', plainText('later'));
  expect((await scan()).toSorted()).toEqual(['June/IMG_1.nef 1', 'June/IMG_2.jpg 2', 'May/IMG_1.JPG 2']);
  const { items } = await mara.ok('listAssets', { query: { stacks: 'top' } });
  const stack = items.flatMap((asset) => (asset.restricted ? [] : (asset.stack?.id ?? [])))[0] ?? '';
  await mara.ok('deleteStack', { params: { id: stack } });
  expect(await scan()).toHaveLength(4);
});

// ROOT-17, STACK-6
test('a burst that arrives file by file is one stack, until somebody ends it', async () => {
  const folder = await mkdtemp(join(place, 'burst-'));
  const { id } = await admin.ok('createRoot', {
    body: { path: folder, owner_ref: mara.ref, sensitivity: 'public' },
  });
  const put = async (name: string, seed: number) =>
    writeFile(join(folder, `${name}_BURST20260506120000123.jpg`), await jpeg(64, 48, { seed }));
  const stackOf = async () => {
    expect((await runScan(library.deps, id, true)).state).toBe('done');
    const { items } = await mara.ok('listAssets', { query: { stacks: 'top', q: 'BURST20260506120000123' } });
    return items.map((asset) => (asset.restricted ? undefined : asset.stack));
  };
  await put('00000IMG_00000', 21);
  expect(await stackOf()).toEqual([undefined]);
  await put('00001IMG_00001', 22);
  expect((await stackOf()).map((stack) => stack?.assets.length)).toEqual([2]);
  await put('00002IMG_00002', 23);
  const [grown] = await stackOf();
  expect(grown?.assets).toHaveLength(3);
  await mara.ok('deleteStack', { params: { id: grown?.id ?? '' } });
  await put('00003IMG_00003', 24);
  expect(await stackOf()).toEqual([undefined, undefined, undefined, undefined]);
});

// ROOT-17, STACK-6
test('a bracket that a scan adds is one stack', async () => {
  const folder = await mkdtemp(join(place, 'bracket-'));
  for (const [at, bias] of ['0', '-1', '1'].entries()) {
    const path = join(folder, `AEB_${at}.jpg`);
    await writeFile(path, await jpeg(64, 48, { seed: 30 + at }));
    await tagFile(path, {
      'ExifIFD:ExposureMode': '2',
      'ExifIFD:DateTimeOriginal': '2026:05:06 12:00:00',
      'ExifIFD:SubSecTimeOriginal': String(at),
      'ExifIFD:ExposureCompensation': bias,
    });
  }
  const { id } = await admin.ok('createRoot', {
    body: { path: folder, owner_ref: mara.ref, sensitivity: 'public' },
  });
  expect((await runScan(library.deps, id, true)).state).toBe('done');
  const { items } = await mara.ok('listAssets', { query: { stacks: 'top', q: 'AEB' } });
  expect(items.map((asset) => (asset.restricted ? 0 : asset.stack?.assets.length))).toEqual([3]);
});
