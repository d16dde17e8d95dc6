import { afterAll, describe, expect, test } from 'vitest';
import { tagged } from '../extraction/files.ts';
import { stopTagging } from '../media/tagged-files.ts';
import { openLibrary, password, upload } from '../support/library.ts';
import { define } from './values/fields.ts';

afterAll(stopTagging);

const setUp = { body: { username: 'root', password } };

describe('a new library', () => {
  // SETUP-4
  test('has fields that are filled from files and searchable', async () => {
    const library = await openLibrary();
    const root = library.anonymous();
    await root.ok('completeSetup', setUp);
    const { items } = await root.ok('listFields', { query: { limit: 200 } });
    expect(items.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['creator', 'keywords', 'camera_make']),
    );

    const asset = await upload(
      root,
      await tagged({
        'EXIF:Make': 'Canon',
        'EXIF:Model': 'Canon EOS R5',
        'EXIF:Artist': 'Mara Lind',
        'XMP-dc:Subject': ['pier', 'North Sea'],
        'EXIF:DateTimeOriginal': '2024:05:06 01:08:09',
      }),
    );
    await library.runJobs();
    for (const q of ['canon', 'mara lind', 'north sea']) {
      const found = await root.ok('search', { query: { q, kind: 'asset' } });
      expect([q, found.items.map((hit) => hit.kind === 'asset' && hit.asset.id)]).toEqual([q, [asset.id]]);
    }
  });

  test('keeps a starter field archived', async () => {
    const library = await openLibrary();
    const root = library.anonymous();
    await root.ok('completeSetup', setUp);
    const { items } = await root.ok('listFields', { query: { limit: 200 } });
    const iso = items.find(({ code }) => code === 'iso');
    await root.ok('archiveField', { params: { id: iso?.id ?? '' } });
    const left = await root.ok('listFields', { query: { limit: 200 } });
    expect(left.items.map(({ code }) => code)).not.toContain('iso');
  });
});

// SETUP-4
test('a library with fields gets no starter fields when its first administrator is created', async () => {
  const library = await openLibrary();
  await define(library, 'text', { code: 'mood' });
  const root = library.anonymous();
  await root.ok('completeSetup', setUp);
  const { items } = await root.ok('listFields', { query: { limit: 200 } });
  expect(items.map(({ code }) => code).sort()).toEqual(['description', 'mood', 'title']);
});
