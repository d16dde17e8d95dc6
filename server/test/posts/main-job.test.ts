import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

let library: Library;
let mara: Account;

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('mara');
});

describe('the main job', () => {
  test('a picture is uploaded, rendered, posted and read back', async () => {
    const asset = await upload(mara, await jpeg(1500, 1000), { title: 'Above the tree line' });
    expect(asset.processing_status).toBe('pending');
    await library.runJobs();
    const post = await publish(mara, [asset], { title: 'First' });
    expect(post.members).toHaveLength(1);
    const { items } = await mara.ok('listPosts');
    expect(items.map((item) => item.id)).toEqual([post.id]);
    const ready = await mara.ok('getAsset', { params: { id: asset.id } });
    expect(ready).toMatchObject({ processing_status: 'ready', ladder_available: true, pixel_width: 1500 });
  });
});
