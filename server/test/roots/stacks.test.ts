import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runScan } from '../../src/content/roots/scan.ts';
import { openLibrary } from '../support/library.ts';
import { jpeg, plainText } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const place = await temporaryDirectory();
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
