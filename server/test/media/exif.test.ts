import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { readExif } from '../../src/media/exif.ts';
import { emptyFile, jpeg, plainText, truncatedJpeg } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { xmpOf } from './tagged-files.ts';

const directory = await temporaryDirectory();

async function exifOf(bytes: Uint8Array) {
  const path = join(directory, 'file');
  await writeFile(path, bytes);
  return readExif(path);
}

type Tags = NonNullable<Parameters<ReturnType<typeof sharp>['withExif']>[0]>;

const withExif = async (tags: Tags) =>
  exifOf(
    await sharp(await jpeg(20, 20))
      .withExif(tags)
      .jpeg()
      .toBuffer(),
  );

const withXmp = async (inside: string) =>
  exifOf(
    await sharp(await jpeg(20, 20))
      .withXmp(xmpOf(inside))
      .jpeg()
      .toBuffer(),
  );

const inEveryLanguage = (text: string) => `<rdf:Alt><rdf:li xml:lang="x-default">${text}</rdf:li></rdf:Alt>`;

describe('EXIF and XMP of a picture', () => {
  test('give camera, exposure, place and time', async () => {
    const found = await withExif({
      IFD0: {
        Make: ' Vitrine Optics ',
        Model: 'V1',
        Artist: 'Mara',
        Copyright: '© Mara',
        ImageDescription: 'A pier',
      },
      IFD2: {
        DateTimeOriginal: '2024:05:06 07:08:09',
        OffsetTimeOriginal: '+02:00',
        FNumber: '28/10',
        ExposureTime: '1/250',
        ISOSpeedRatings: '400',
        FocalLength: '50/1',
        LensModel: 'V 50mm',
      },
      IFD3: {
        GPSLatitudeRef: 'S',
        GPSLatitude: '33/1 51/1 0/1',
        GPSLongitudeRef: 'E',
        GPSLongitude: '151/1 12/1 0/1',
      },
    });
    expect(found).toEqual({
      takenAt: '2024-05-06T07:08:09+02:00',
      cameraMake: 'Vitrine Optics',
      cameraModel: 'V1',
      lens: 'V 50mm',
      exposureTime: '1/250',
      aperture: 2.8,
      iso: 400,
      focalLength: 50,
      latitude: expect.closeTo(-33.85, 4),
      longitude: expect.closeTo(151.2, 4),
      orientation: 1,
      description: 'A pier',
      creator: 'Mara',
      copyright: expect.stringContaining('Mara'),
    });
    expect(await exifOf(await jpeg(20, 20, { orientation: 6 }))).toEqual({ orientation: 6 });
  });

  test.each([
    ['2024:05:06 07:08:09', '2024-05-06T07:08:09'],
    ['2024:13:45 07:08:09', undefined],
    ['    :  :     :  :  ', undefined],
  ])('give a time only if it exists, and no offset that they lack: %j', async (DateTimeOriginal, time) => {
    expect((await withExif({ IFD2: { DateTimeOriginal } })).takenAt).toBe(time);
  });

  test('give title, description, creator and keywords', async () => {
    const found = await withXmp(
      `<dc:title>${inEveryLanguage('Pier at dusk')}</dc:title>` +
        `<dc:description>${inEveryLanguage('Long exposure')}</dc:description>` +
        '<dc:creator><rdf:Seq><rdf:li>Mara</rdf:li></rdf:Seq></dc:creator>' +
        '<dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li> pier </rdf:li><rdf:li>sea</rdf:li></rdf:Bag></dc:subject>',
    );
    expect(found).toMatchObject({
      title: 'Pier at dusk',
      description: 'Long exposure',
      creator: 'Mara',
      keywords: ['sea', 'pier'],
    });
  });

  // EXTRACT-11
  test('give only text that PostgreSQL can store, of bounded length', async () => {
    const text = inEveryLanguage(`${'x'.repeat(1999)}😀${'y'.repeat(9000)}`);
    const found = await withXmp(`<dc:description>${text}</dc:description>`);
    // The 2,000th code unit is half of the emoji.
    expect(found.description).toBe(`${'x'.repeat(1999)}\uFFFD`);
    const nul = await exifOf(await jpeg(20, 20, { exif: { Make: 'Vit\0rine\0', Model: '\0' } }));
    expect(JSON.stringify(nul)).not.toContain('\\u0000');
  });

  test('give nothing for a file that is broken or has none', async () => {
    for (const bytes of [await jpeg(20, 20), plainText(), emptyFile(), await truncatedJpeg()])
      expect(await exifOf(bytes)).toEqual({});
  });

  // EXTRACT-11
  test('never fail on hostile metadata', async () => {
    const whole = Buffer.from(await jpeg(20, 20, { orientation: 3, exif: { Make: 'Vitrine Optics' } }));
    for (let round = 0; round < 100; round += 1) {
      const harmed = Buffer.from(whole);
      for (const [index, byte] of randomBytes(8).entries())
        harmed[20 + ((byte * 7 + index * 31) % 180)] = byte;
      const found = await exifOf(harmed.subarray(0, round % 3 === 0 ? 40 + round : harmed.length));
      expect(JSON.stringify(found)).not.toContain('\\u0000');
    }
  });

  test('report a missing file as an error of the disk', async () => {
    await expect(readExif(join(directory, 'gone'))).rejects.toThrow(/ENOENT/);
  });
});
