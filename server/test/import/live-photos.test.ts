import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { MetadataReader } from '../../src/media/metadata/reader.ts';
import { pairLivePhotos } from '../../src/operate/import/live-photos.ts';
import { planImport } from '../../src/operate/import/plan.ts';
import { walk } from '../../src/operate/import/walk.ts';
import { clip } from '../media/clips.ts';
import { ofPhone } from '../media/phone-photo.ts';
import { stopTagging, tagFile } from '../media/tagged-files.ts';
import { sharedMedia } from '../support/library.ts';
import { temporaryDirectory } from '../support/temporary.ts';

afterAll(stopTagging);

interface File {
  name: string;
  folder?: string;
  identifier?: string;
  seconds?: number;
}

const fileOfPlan = ({ name, folder = '' }: File) => ({
  path: join('/', folder, name),
  source: join('/', folder, name),
  name,
  folder,
});

/** Pairs files whose metadata are given. Returns the films by the names of their photos, and the files that remain. */
async function paired(files: readonly File[]) {
  const read: MetadataReader['read'] = async (path) => {
    const file = files.find((one) => fileOfPlan(one).path === path);
    return {
      outcome: 'read',
      reader: 'test',
      sources: file?.seconds === undefined ? {} : { duration_seconds: { value: file.seconds, from: 'file' } },
      raw: file?.identifier === undefined ? {} : { 'QuickTime:Keys:ContentIdentifier': file.identifier },
      fault: null,
    };
  };
  const plan = { files: files.map(fileOfPlan), subtitles: [], metadata: new Map(), orphans: [], skipped: [] };
  const { films, files: others } = await pairLivePhotos({ read }, plan);
  return {
    films: Object.fromEntries([...films].map(([photo, film]) => [photo.slice(1), film.name])),
    others: others.map(({ path }) => path.slice(1)),
  };
}

// ADMIN-32
test.each<[string, File[], Record<string, string>]>([
  [
    'have the same identifier',
    [
      { name: 'IMG_1.HEIC', identifier: 'A' },
      { name: 'IMG_1.MOV', identifier: 'A', seconds: 9 },
    ],
    { 'IMG_1.HEIC': 'IMG_1.MOV' },
  ],
  [
    'have the same identifier and other names',
    [
      { name: 'IMG_1.HEIC', identifier: 'A' },
      { name: 'a.mov', identifier: 'A', seconds: 3 },
    ],
    { 'IMG_1.HEIC': 'a.mov' },
  ],
  [
    'have the same name, and the film is short',
    [{ name: 'IMG_1.jpg' }, { name: 'img_1.MOV', seconds: 2.9 }],
    { 'IMG_1.jpg': 'img_1.MOV' },
  ],
  [
    'have the same name, and only the film has an identifier',
    [{ name: 'IMG_1.jpg' }, { name: 'IMG_1.MOV', identifier: 'A', seconds: 3 }],
    { 'IMG_1.jpg': 'IMG_1.MOV' },
  ],
  [
    'have the same name in HEIC and JPEG',
    [{ name: 'IMG_1.jpg' }, { name: 'IMG_1.heic' }, { name: 'IMG_1.MOV', seconds: 3 }],
    { 'IMG_1.heic': 'IMG_1.MOV' },
  ],
])('a photo and a film are one live photo if they %s', async (_, files, films) => {
  const found = await paired(files);
  expect(found.films).toEqual(films);
  expect(found.others).not.toContain(Object.values(films)[0]);
  expect(found.others).toHaveLength(files.length - 1);
});

// ADMIN-32
test.each<[string, File[]]>([
  ['the film is long', [{ name: 'IMG_1.jpg' }, { name: 'IMG_1.MOV', seconds: 4.5 }]],
  ['the length of the film is unknown', [{ name: 'IMG_1.jpg' }, { name: 'IMG_1.MOV' }]],
  [
    'their identifiers differ',
    [
      { name: 'IMG_1.jpg', identifier: 'A' },
      { name: 'IMG_1.MOV', identifier: 'B', seconds: 2 },
    ],
  ],
  [
    'they are in different folders',
    [
      { name: 'IMG_1.jpg', folder: 'a' },
      { name: 'IMG_1.MOV', folder: 'b', seconds: 2 },
    ],
  ],
  ['the names differ', [{ name: 'IMG_1.jpg' }, { name: 'IMG_2.MOV', seconds: 2 }]],
])('a photo and a film are two files if %s', async (_, files) => {
  const found = await paired(files);
  expect(found.films).toEqual({});
  expect(found.others).toHaveLength(2);
});

// ADMIN-32
test('reads the identifiers that phones write, and gives the photo the sidecars of its film', async () => {
  const folder = await temporaryDirectory();
  const film = await clip({ format: 'mov', video: { encoder: 'libx264' }, seconds: 5 });
  await writeFile(join(folder, 'IMG_1.JPG'), await ofPhone('4B1F'));
  await writeFile(join(folder, 'IMG_1.MOV'), film);
  await tagFile(join(folder, 'IMG_1.MOV'), { 'Keys:ContentIdentifier': '4B1F' });
  await writeFile(join(folder, 'IMG_1.MOV.xmp'), '<x:xmpmeta xmlns:x="adobe:ns:meta/"/>');
  const plan = await pairLivePhotos(sharedMedia().metadata, await planImport(walk(folder)));
  expect(plan.files.map(({ name }) => name)).toEqual(['IMG_1.JPG']);
  expect([...plan.films.values()].map(({ name }) => name)).toEqual(['IMG_1.MOV']);
  const [photo] = plan.files;
  expect(plan.metadata.get(photo?.path ?? '')?.map(({ file }) => file.name)).toEqual(['IMG_1.MOV.xmp']);
});
