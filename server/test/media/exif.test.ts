import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readExif } from '../../src/media/exif.ts';
import { emptyFile, jpeg, plainText, truncatedJpeg } from '../support/pictures.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-exif-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function exifOf(bytes: Uint8Array) {
  const path = join(directory, 'file');
  await writeFile(path, bytes);
  return readExif(path);
}

const xmp = (inside: string) =>
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">${inside}</rdf:Description></rdf:RDF></x:xmpmeta>`;

const withXmp = async (inside: string) =>
  sharp(await jpeg(20, 20))
    .withXmp(xmp(inside))
    .jpeg()
    .toBuffer();

describe('EXIF and XMP of a picture', () => {
  test('give camera, exposure, place and time', async () => {
    const picture = sharp(await jpeg(40, 30)).withExif({
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
    expect(await exifOf(await picture.jpeg().toBuffer())).toEqual({
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
  });

  test('give no offset without a time zone, and no time without one', async () => {
    const taken = async (DateTimeOriginal: string) => {
      const picture = sharp(await jpeg(20, 20)).withExif({ IFD2: { DateTimeOriginal } });
      return (await exifOf(await picture.jpeg().toBuffer())).takenAt;
    };
    expect(await taken('2024:05:06 07:08:09')).toBe('2024-05-06T07:08:09');
    expect(await taken('2024:13:45 07:08:09')).toBeUndefined();
    expect(await taken('    :  :     :  :  ')).toBeUndefined();
  });

  test('give the orientation', async () => {
    expect((await exifOf(await jpeg(20, 20, { orientation: 6 }))).orientation).toBe(6);
  });

  test('give title, description, creator and keywords', async () => {
    const found = await exifOf(
      await withXmp(
        '<dc:title><rdf:Alt><rdf:li xml:lang="x-default">Pier at dusk</rdf:li></rdf:Alt></dc:title>' +
          '<dc:description><rdf:Alt><rdf:li xml:lang="x-default">Long exposure</rdf:li></rdf:Alt></dc:description>' +
          '<dc:creator><rdf:Seq><rdf:li>Mara</rdf:li></rdf:Seq></dc:creator>' +
          '<dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li> pier </rdf:li><rdf:li>sea</rdf:li></rdf:Bag></dc:subject>',
      ),
    );
    expect(found).toMatchObject({
      title: 'Pier at dusk',
      description: 'Long exposure',
      creator: 'Mara',
      keywords: ['sea', 'pier'],
    });
  });

  test('give only text that PostgreSQL can store, of bounded length', async () => {
    const found = await exifOf(
      await withXmp(
        `<dc:description><rdf:Alt><rdf:li xml:lang="x-default">${'x'.repeat(1999)}😀${'y'.repeat(9000)}</rdf:li></rdf:Alt></dc:description>`,
      ),
    );
    // The 2,000th code unit is half of the emoji.
    expect(found.description).toBe(`${'x'.repeat(1999)}\uFFFD`);
    const nul = await exifOf(await jpeg(20, 20, { exif: { Make: 'Vit\0rine\0', Model: '\0' } }));
    expect(JSON.stringify(nul)).not.toContain('\\u0000');
  });

  test('give nothing for a file that is broken or has none', async () => {
    expect(await exifOf(await jpeg(20, 20))).toEqual({});
    expect(await exifOf(plainText())).toEqual({});
    expect(await exifOf(emptyFile())).toEqual({});
    expect(await exifOf(await truncatedJpeg())).toEqual({});
  });

  // EXTRACT-11
  test('never fail on hostile metadata', async () => {
    const whole = Buffer.from(await jpeg(20, 20, { orientation: 3, exif: { Make: 'Vitrine Optics' } }));
    for (let round = 0; round < 300; round += 1) {
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
