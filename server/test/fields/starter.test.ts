import { afterAll, expect, test } from 'vitest';
import { tagged } from '../extraction/files.ts';
import { stopTagging } from '../media/tagged-files.ts';
import { openLibrary, password, upload } from '../support/library.ts';
import { define } from './values/fields.ts';

afterAll(stopTagging);

const setUp = { body: { username: 'root', password } };

// SETUP-4
test('a new library has fields that are filled from files and searchable', async () => {
  const library = await openLibrary();
  const root = library.anonymous();
  await root.ok('completeSetup', setUp);
  const { items } = await root.ok('listFields', { query: { limit: 200 } });
  const codes = ['creator', 'keywords', 'camera_make'];
  expect(items.map(({ code }) => code)).toEqual(expect.arrayContaining(codes));
  const tags = { 'EXIF:Make': 'Canon', 'EXIF:Artist': 'Mara Lind', 'XMP-dc:Subject': ['pier', 'North Sea'] };
  await upload(root, await tagged(tags));
  await library.runJobs();
  for (const q of ['canon', 'mara lind', 'north sea'])
    expect([q, (await root.ok('search', { query: { q, kind: 'asset' } })).total]).toEqual([q, 1]);
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
