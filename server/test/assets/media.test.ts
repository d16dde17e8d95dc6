import { beforeAll, describe, expect, test } from 'vitest';
import { arrive } from '../posts/people.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { jpeg, plainText } from '../support/pictures.ts';

let library: Library;
let owner: Account;
let stranger: Account;

beforeAll(async () => {
  library = await openLibrary();
  owner = await arrive(library, 'owner');
  stranger = await arrive(library, 'stranger');
});

describe('GET /assets/{id}/media', () => {
  // MEDIA-24
  test('returns type, kind and the URLs of all renditions, which are served', async () => {
    const asset = await upload(owner, await jpeg(60, 40));
    await library.runJobs();
    const media = await owner.ok('getAssetMedia', { params: { id: asset.id } });
    expect(media).toMatchObject({ mime: 'image/jpeg', kind: 'image', facts: {} });
    expect(media.variants.map(({ key }) => key).sort()).toEqual(['col', 'hires', 'preview', 'screen']);
    for (const { key, type, bytes } of media.variants) {
      const { status, headers } = await owner.send(`/assets/${asset.id}/variants/${key}`);
      expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([
        200,
        type,
        String(bytes),
      ]);
    }
  });

  // FILE-3, MEDIA-24
  test('returns 404 to callers without access to the bytes', async () => {
    const asset = await upload(owner, plainText('mine'), { sensitivity: 'restricted' });
    expect((await stranger.send(`/assets/${asset.id}/media`)).status).toBe(404);
  });
});
