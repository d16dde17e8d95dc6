import { beforeAll, describe, expect, test } from 'vitest';
import { arrive } from '../posts/people.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { corpus } from './files.ts';

let library: Library;
let mara: Account;
const ids = new Map<string, string>();

beforeAll(async () => {
  // Only machines with LibreOffice or Ghostscript draw these; others show an icon.
  library = await openLibrary({ VITRINE_LIBREOFFICE: 'off', VITRINE_GHOSTSCRIPT: 'off' });
  mara = await arrive(library, 'mara');
  for (const { name, make } of corpus) ids.set(name, (await upload(mara, await make(), {}, name)).id);
  await library.runJobs();
}, 600_000);

const idOf = (name: string) => ids.get(name) ?? '';

describe('a library with every kind of file', () => {
  test('has at least 40 of them', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(40);
    expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
  });

  // ASSET-25, MEDIA-1, MEDIA-3
  test.each(corpus)('shows $name by its $shown', async ({ name, shown }) => {
    const asset = await mara.ok('getAsset', { params: { id: idOf(name) } });
    const isDrawn = shown === 'picture';
    expect(asset).toMatchObject({
      processing_status: 'ready',
      preview_available: isDrawn,
      ladder_available: isDrawn,
    });
    const { variants } = await mara.ok('getAssetMedia', { params: { id: idOf(name) } });
    expect(variants.some(({ key }) => key === 'contents.json')).toBe(shown === 'list');
  });
});
