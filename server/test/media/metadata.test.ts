import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDecoders } from '../../src/media/decoding/decoders.ts';
import { type MetadataReader, openMetadataReader } from '../../src/media/metadata/reader.ts';
import type { ExtractedValues } from '../../src/media/metadata/source.ts';
import {
  flac,
  font,
  heicFile,
  mp3,
  mp4,
  pdf,
  pictureFile,
  stopTagging,
  tagFile,
  woff,
} from './tagged-files.ts';

const decoders = openDecoders();
let directory: string;
let exiftool: MetadataReader;
let fallback: MetadataReader;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-metadata-'));
  exiftool = openMetadataReader({ decoders });
  fallback = openMetadataReader({ decoders, perl: null });
});
afterAll(async () => {
  await exiftool.close();
  await decoders.close();
  await stopTagging();
  await rm(directory, { recursive: true, force: true });
});

/** Stored files have no extension, so their bytes determine the type. */
const stored = () => join(directory, 'stored');

async function sourcesOf(path: string, reader = exiftool): Promise<ExtractedValues> {
  const made = await reader.read(path);
  if (made.outcome === 'failed') throw new Error(made.reason);
  expect(made.fault).toBeNull();
  return made.sources;
}

async function ofBytes(bytes: Buffer, reader = exiftool): Promise<ExtractedValues> {
  await writeFile(stored(), bytes);
  return sourcesOf(stored(), reader);
}

const exif = (value: string | number | string[]) => ({ value, from: 'exif' });
const iptc = (value: string | number | string[]) => ({ value, from: 'iptc' });
const xmp = (value: string | number | string[]) => ({ value, from: 'xmp' });
const file = (value: string | number | string[]) => ({ value, from: 'file' });

const camera = {
  'EXIF:Make': 'Vitrine Optics',
  'EXIF:Model': 'V1',
  'EXIF:LensModel': 'V 50mm F1.8',
  'EXIF:ExposureTime': '0.004',
  'EXIF:FNumber': '2.8',
  'EXIF:ISO': '400',
  'EXIF:FocalLength': '50',
  'EXIF:DateTimeOriginal': '2024:05:06 07:08:09',
  'EXIF:OffsetTimeOriginal': '+02:00',
  'EXIF:GPSLatitude': '33.85',
  'EXIF:GPSLatitudeRef': 'S',
  'EXIF:GPSLongitude': '151.2',
  'EXIF:GPSLongitudeRef': 'E',
  'EXIF:ImageDescription': 'A pier',
  'EXIF:Artist': 'Mara Lind; Jo Berg',
  'EXIF:Copyright': '© Mara',
  'EXIF:ColorSpace': '1',
};

const fromCamera = {
  camera_make: exif('Vitrine Optics'),
  camera_model: exif('V1'),
  lens: exif('V 50mm F1.8'),
  exposure_time: exif('1/250'),
  aperture: exif(2.8),
  iso: exif(400),
  focal_length: exif(50),
  capture_datetime: exif('2024-05-06T07:08:09+02:00'),
  gps_coordinates: exif('-33.850000, 151.200000'),
  description: exif('A pier'),
  creator: exif(['Mara Lind', 'Jo Berg']),
  copyright: exif('© Mara'),
  color_space: exif('sRGB'),
};

const words = {
  'XMP-dc:Title': '007',
  'XMP-dc:Description': 'Four mornings',
  'XMP-dc:Creator': ['Mara Lind', 'Jo Berg'],
  'XMP-dc:Rights': '© 2024',
  'XMP-dc:Subject': ['pier', 'north, sea'],
  'XMP-photoshop:Credit': 'Agency',
  'XMP-photoshop:City': 'Bergen',
  'XMP-photoshop:Country': 'Norway',
  'XMP-xmp:Rating': '4',
};

const fromWords = {
  title: xmp('007'),
  description: xmp('Four mornings'),
  creator: xmp(['Mara Lind', 'Jo Berg']),
  copyright: xmp('© 2024'),
  keywords: xmp(['pier', 'north, sea']),
  credit: xmp('Agency'),
  city: xmp('Bergen'),
  country: xmp('Norway'),
  rating: xmp(4),
};

// EXTRACT-1
describe('metadata of pictures', () => {
  // EXTRACT-1
  test.each(['jpeg', 'png', 'tiff', 'webp'] as const)('%s: camera and place', async (format) => {
    await pictureFile(stored(), format);
    await tagFile(stored(), camera);
    expect(await sourcesOf(stored())).toMatchObject(fromCamera);
  });

  test.each(['jpeg', 'png', 'tiff', 'webp'] as const)('%s: texts written by people', async (format) => {
    await pictureFile(stored(), format);
    await tagFile(stored(), words);
    expect(await sourcesOf(stored())).toMatchObject(fromWords);
  });

  test('HEIC: both', async () => {
    await heicFile(stored());
    const { 'EXIF:ImageDescription': _, ...rest } = camera;
    await tagFile(stored(), { ...rest, ...words });
    const { creator: _creator, copyright: _copyright, description: _description, ...ofCamera } = fromCamera;
    expect(await sourcesOf(stored())).toMatchObject({ ...ofCamera, ...fromWords });
  });

  test('a file with only IPTC fills every property that IPTC has', async () => {
    await pictureFile(stored(), 'jpeg');
    await tagFile(stored(), {
      'IPTC:ObjectName': 'Mørk brygge',
      'IPTC:Caption-Abstract': 'Four mornings',
      'IPTC:By-line': ['Mara Lind', 'Jo Berg'],
      'IPTC:CopyrightNotice': '© 2024',
      'IPTC:Keywords': ['pier', 'sea'],
      'IPTC:Credit': 'Agency',
      'IPTC:City': 'Bergen',
      'IPTC:Country-PrimaryLocationName': 'Norway',
      'IPTC:DateCreated': '2024:05:06',
      'IPTC:TimeCreated': '07:08:09+02:00',
    });
    expect(await sourcesOf(stored())).toMatchObject({
      title: iptc('Mørk brygge'),
      description: iptc('Four mornings'),
      creator: iptc(['Mara Lind', 'Jo Berg']),
      copyright: iptc('© 2024'),
      keywords: iptc(['pier', 'sea']),
      credit: iptc('Agency'),
      city: iptc('Bergen'),
      country: iptc('Norway'),
      capture_datetime: iptc('2024-05-06T07:08:09+02:00'),
    });
  });
});

// EXTRACT-4
describe('conflicting standards', () => {
  // EXTRACT-4
  test('XMP takes precedence over IPTC, and IPTC over EXIF', async () => {
    await pictureFile(stored(), 'jpeg');
    await tagFile(stored(), {
      'EXIF:ImageDescription': 'exif',
      'IPTC:Caption-Abstract': 'iptc',
      'EXIF:Copyright': 'exif',
      'IPTC:CopyrightNotice': 'iptc',
      'XMP-dc:Rights': 'xmp',
      'EXIF:Artist': 'exif',
    });
    expect(await sourcesOf(stored())).toMatchObject({
      description: iptc('iptc'),
      copyright: xmp('xmp'),
      creator: exif(['exif']),
    });
  });

  // EXTRACT-4
  test.each([
    'OLYMPUS DIGITAL CAMERA',
    'SAMSUNG DIGITAL CAMERA ,',
    'Digital StillCamera',
    'Digital image',
    'My beautiful picture',
    'DCFC1247.JPG',
  ])('what a camera writes into a description by itself is none: %s', async (own) => {
    await pictureFile(stored(), 'jpeg');
    await tagFile(stored(), { 'EXIF:ImageDescription': own, 'EXIF:UserComment': 'mine' });
    expect((await sourcesOf(stored())).description).toEqual(exif('mine'));
  });
});

describe('when a picture was taken', () => {
  async function taken(tags: Record<string, string>) {
    await pictureFile(stored(), 'jpeg');
    await tagFile(stored(), tags);
    return (await sourcesOf(stored())).capture_datetime;
  }

  // EXTRACT-5
  test('has no offset when the camera stored none', async () => {
    expect(await taken({ 'EXIF:DateTimeOriginal': '2024:05:06 07:08:09' })).toEqual(
      exif('2024-05-06T07:08:09'),
    );
  });

  test('has the precision of the most exact matching tag', async () => {
    const tags = {
      'XMP-photoshop:DateCreated': '2024:05:06',
      'EXIF:DateTimeOriginal': '2024:05:06 07:08:09',
      'EXIF:OffsetTimeOriginal': '-03:30',
    };
    expect(await taken(tags)).toEqual(exif('2024-05-06T07:08:09-03:30'));
    expect(await taken({ ...tags, 'XMP-photoshop:DateCreated': '2023:01:01' })).toEqual(xmp('2023-01-01'));
  });

  test('ignores an unset clock and a day that does not exist', async () => {
    expect(await taken({ 'EXIF:DateTimeOriginal': '0000:00:00 00:00:00' })).toBeUndefined();
    expect(await taken({ 'XMP-photoshop:DateCreated': '2024:02:31 10:00:00' })).toBeUndefined();
  });
});

describe('other files', () => {
  test('PDF: pages and document properties', async () => {
    await writeFile(stored(), pdf(3));
    await tagFile(stored(), {
      'PDF:Title': 'Report',
      'PDF:Author': 'Mara Lind',
      'PDF:Subject': 'On piers',
      'PDF:Keywords': 'pier, sea',
      'PDF:CreateDate': '2024:05:06 07:08:09+02:00',
    });
    expect(await sourcesOf(stored())).toEqual({
      title: file('Report'),
      creator: file(['Mara Lind']),
      description: file('On piers'),
      keywords: file(['pier', 'sea']),
      capture_datetime: file('2024-05-06T07:08:09+02:00'),
      page_count: file(3),
    });
  });

  test('TIFF: its pages', async () => {
    const { default: sharp } = await import('sharp');
    const page = await sharp({ create: { width: 8, height: 24, channels: 3, background: 'red' } })
      .raw()
      .toBuffer();
    const raw = { width: 8, height: 24, channels: 3, pageHeight: 8 } as const;
    await writeFile(stored(), await sharp(page, { raw }).tiff().toBuffer());
    expect((await sourcesOf(stored())).page_count).toEqual(file(3));
  });

  test('MP4: length, codec, time and title', async () => {
    await writeFile(stored(), mp4(12.5));
    await tagFile(stored(), {
      'ItemList:Title': 'Ferry',
      'ItemList:Artist': 'Mara Lind',
      'Keys:Make': 'Vitrine Optics',
      'Keys:Model': 'V1',
      'Keys:GPSCoordinates': '60.39 5.32 10',
    });
    expect(await sourcesOf(stored())).toEqual({
      duration_seconds: file(12.5),
      codec: file('h264'),
      capture_datetime: file('2024-01-01T12:00:00Z'),
      title: file('Ferry'),
      creator: file(['Mara Lind']),
      camera_make: file('Vitrine Optics'),
      camera_model: file('V1'),
      gps_coordinates: file('60.390000, 5.320000'),
    });
  });

  test('MP3: length, codec and the contents of its tag', async () => {
    const found = await ofBytes(
      mp3(200, { TIT2: 'Måne', TPE1: 'Mara Lind', TCOP: '2024 Mara', TYER: '2024' }),
    );
    expect(found).toMatchObject({
      title: file('Måne'),
      creator: file(['Mara Lind']),
      copyright: file('2024 Mara'),
      codec: file('mp3'),
    });
    expect(found.duration_seconds?.value).toBeCloseTo(200 * 0.026122, 0);
  });

  test('FLAC: length, codec and comments', async () => {
    const found = await ofBytes(flac(7, ['TITLE=Måne', 'ARTIST=Mara Lind', 'DESCRIPTION=Slow']));
    expect(found).toMatchObject({
      title: file('Måne'),
      creator: file(['Mara Lind']),
      description: file('Slow'),
      codec: file('flac'),
      duration_seconds: file(7),
    });
  });

  test.each(['ttf', 'otf'] as const)('%s: its family, designer and copyright', async (kind) => {
    expect(await ofBytes(font(kind, { 0: '© 2024', 1: 'Vitrine Sans', 9: 'Mara Lind' }))).toMatchObject({
      font_family: file('Vitrine Sans'),
      copyright: file('© 2024'),
      creator: file(['Mara Lind']),
    });
  });
});

/** The web font Inter. */
const inter = createRequire(import.meta.url).resolve(
  '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
);

describe('fonts packed for the web', () => {
  test('WOFF and WOFF2 contain their family', async () => {
    expect(await ofBytes(woff({ 0: '© 2024', 1: 'Vitrine Sans', 9: 'Mara Lind' }))).toMatchObject({
      font_family: file('Vitrine Sans'),
      copyright: file('© 2024'),
      creator: file(['Mara Lind']),
    });
    expect((await sourcesOf(inter)).font_family?.value).toMatch(/^Inter/);
  });

  test('uses the typographic family name', async () => {
    const names = { 1: 'Vitrine Sans Light', 16: 'Vitrine Sans' };
    for (const bytes of [woff(names), font('ttf', names)])
      expect((await ofBytes(bytes)).font_family).toEqual(file('Vitrine Sans'));
  });

  test('a broken font and a font that unpacks to far too much cannot be read', async () => {
    const bytes = await readFile(inter);
    const zeros = deflateSync(Buffer.alloc(10_000_000));
    const head = woff({ 1: 'x' }).subarray(0, 64);
    head.writeUInt32BE(zeros.length, 52);
    head.writeUInt32BE(10_000_000, 56);
    const bomb = Buffer.concat([head, zeros]);
    for (const broken of [bytes.subarray(0, 2000), bytes.subarray(0, 60), bomb]) {
      await writeFile(stored(), broken);
      expect(await exiftool.read(stored())).toMatchObject({ outcome: 'failed' });
    }
  });
});

describe('without a perl', () => {
  test('the fallback reader is in use and gives the reason', async () => {
    expect(await fallback.inUse()).toEqual({
      name: 'fallback',
      version: '1',
      reason: 'no perl was found to run ExifTool',
    });
    expect((await exiftool.inUse()).name).toBe('exiftool');
    expect(await fallback.name()).not.toBe(await exiftool.name());
  });

  test.each(['/bin/false', '/bin/echo', '/nowhere/perl'])('or with %s for one', async (perl) => {
    const broken = openMetadataReader({ decoders, perl });
    expect(await broken.inUse()).toMatchObject({
      name: 'fallback',
      reason: expect.stringContaining('ExifTool did not start'),
    });
    await pictureFile(stored(), 'jpeg');
    await tagFile(stored(), { 'XMP-dc:Title': 'Fine' });
    expect(await sourcesOf(stored(), broken)).toEqual({ title: xmp('Fine') });
    await broken.close();
  });

  test('pictures give the same metadata', async () => {
    await pictureFile(stored(), 'jpeg');
    await tagFile(stored(), { ...camera, ...words });
    const { rating: _, ...rest } = await sourcesOf(stored());
    expect(await sourcesOf(stored(), fallback)).toMatchObject(rest);
  });

  test('reads length, codec and title of sound and names of fonts, but nothing of documents', async () => {
    expect(await ofBytes(flac(7, ['TITLE=Måne', 'ARTIST=Mara Lind']), fallback)).toMatchObject({
      title: file('Måne'),
      creator: file(['Mara Lind']),
      duration_seconds: file(7),
      codec: file('flac'),
    });
    expect(await ofBytes(pdf(2), fallback)).toEqual({});
    for (const bytes of [font('ttf', { 1: 'Vitrine Sans' }), woff({ 1: 'Vitrine Sans' })])
      expect(await ofBytes(bytes, fallback)).toEqual({ font_family: file('Vitrine Sans') });
  });
});
