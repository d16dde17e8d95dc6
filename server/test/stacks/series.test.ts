import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { stacksIn } from '../../src/content/stacks/series.ts';
import { maySeries, noSeries, readSeries, type SeriesMarks } from '../../src/content/stacks/series-marks.ts';
import { ofPhone } from '../media/phone-photo.ts';
import { stopTagging, tagFile } from '../media/tagged-files.ts';
import { sharedMedia } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const folder = await temporaryDirectory();
afterAll(stopTagging);

/** Returns the names of the files of each stack; files without marks are given by their names. */
async function stacked(...files: (string | [name: string, marks: Partial<SeriesMarks>])[]) {
  const all = files.map((file) =>
    typeof file === 'string'
      ? { name: file, marks: noSeries }
      : { name: file[0], marks: { ...noSeries, ...file[1] } },
  );
  const stacks = await stacksIn(all, async ({ marks }) => marks);
  return stacks.map((stack) => stack.map(({ name }) => name));
}

const bracket = (bias: string, atMs: number, camera = 'a'): Partial<SeriesMarks> => ({
  bracket: { camera, atMs, bias },
});

// STACK-6
test('photos and raw files of one name are a stack, the photo on top', async () => {
  const files = ['a.CR3', 'A.jpg', 'a.png', 'b.nef', 'c.jpg', 'd.dng', 'd.HEIC', 'd.jpg'];
  expect(await stacked(...files)).toEqual([
    ['A.jpg', 'a.CR3'],
    ['d.HEIC', 'd.jpg', 'd.dng'],
  ]);
});

// STACK-6
test.each<[string, (string | [string, Partial<SeriesMarks>])[], string[][]]>([
  [
    'by the names of Google',
    [
      '00000IMG_00000_BURST20200101120000123.jpg',
      '00001IMG_00001_BURST20200101120000123_COVER.jpg',
      '00002IMG_00002_BURST20200101120000123.jpg',
      '00000IMG_00000_BURST20200101130000456.jpg',
    ],
    [
      [
        '00001IMG_00001_BURST20200101120000123_COVER.jpg',
        '00000IMG_00000_BURST20200101120000123.jpg',
        '00002IMG_00002_BURST20200101120000123.jpg',
      ],
    ],
  ],
  [
    'by the names of others, in the order of their numbers',
    ['IMG_20200101_120000_BURST10.jpg', 'IMG_20200101_120000_BURST2.jpg', 'IMG_20200101_120001_BURST1.jpg'],
    [['IMG_20200101_120000_BURST2.jpg', 'IMG_20200101_120000_BURST10.jpg']],
  ],
  [
    'by the identifier of the phone, with raw files',
    [
      ['IMG_1.JPG', { burst: 'A' }],
      'IMG_1.DNG',
      ['IMG_2.JPG', { burst: 'A', isCover: true }],
      ['IMG_3.JPG', { burst: 'B' }],
    ],
    [['IMG_2.JPG', 'IMG_1.JPG', 'IMG_1.DNG']],
  ],
])('photos of one burst are a stack %s', async (_, files, stacks) => {
  expect(await stacked(...files)).toEqual(stacks);
});

// STACK-6
test('exposures of a bracket are a stack, of one camera, within two seconds, and each different', async () => {
  expect(
    await stacked(
      ['a.jpg', bracket('0', 0)],
      ['b.jpg', bracket('-1', 900)],
      'b.nef',
      ['c.jpg', bracket('+1', 2900)],
      // Begins again.
      ['d.jpg', bracket('0', 3000)],
      ['e.jpg', bracket('-1', 3500)],
      // Too late.
      ['f.jpg', bracket('+1', 5501)],
      ['g.jpg', bracket('0', 3200, 'another')],
      // By itself.
      ['h.jpg', bracket('0', 60_000)],
      'i.jpg',
    ),
  ).toEqual([
    ['a.jpg', 'b.jpg', 'b.nef', 'c.jpg'],
    ['d.jpg', 'e.jpg'],
  ]);
});

let seed = 0;

/** Returns the marks of a JPEG with these tags, and whether its beginning shows that it may have any. */
async function marksWith(tags: Record<string, string>, bytes?: Uint8Array) {
  seed += 1;
  const path = join(folder, `${seed}.jpg`);
  await writeFile(path, bytes ?? (await jpeg(64, 48, { seed })));
  if (Object.keys(tags).length > 0) await tagFile(path, tags);
  return { may: maySeries(await readFile(path)), ...(await readSeries(sharedMedia().metadata, path)) };
}

const exposure = {
  'IFD0:Make': 'Nikon',
  'IFD0:Model': 'Z 8',
  'ExifIFD:SerialNumber': '17',
  'ExifIFD:DateTimeOriginal': '2026:05:06 12:00:01',
  'ExifIFD:SubSecTimeOriginal': '25',
  'ExifIFD:ExposureCompensation': '-1',
};

// STACK-6
test('reads the marks that cameras and phones write', async () => {
  expect(await marksWith({ ...exposure, 'ExifIFD:ExposureMode': '2' })).toEqual({
    may: true,
    burst: null,
    isCover: false,
    bracket: { camera: 'Nikon|Z 8|17', atMs: Date.parse('2026-05-06T12:00:01.250Z'), bias: '-1' },
  });
  // An exposure that a person has corrected.
  expect(await marksWith({ ...exposure, 'ExifIFD:ExposureMode': '0' })).toEqual({ may: false, ...noSeries });
  const id = '4B1F2C60-5D0E-4A6B-9B8F-0C1D2E3F4A5B';
  expect(await marksWith({}, await ofPhone(id, 1, 0x0b))).toMatchObject({ may: true, burst: id });
  expect(await marksWith({}, await ofPhone(id))).toMatchObject({ may: false, burst: null });
  expect(await marksWith({ 'XMP-GCamera:BurstID': id, 'XMP-GCamera:BurstPrimary': '1' })).toMatchObject({
    may: true,
    burst: id,
    isCover: true,
  });
});
