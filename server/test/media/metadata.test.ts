import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, describe, expect, test } from 'vitest';
import { openMetadataReader } from '../../src/media/metadata/reader.ts';
import type { ExtractedValues } from '../../src/media/metadata/source.ts';
import { coordinates, degrees } from '../../src/media/metadata/values.ts';
import { saySentence } from '../../src/platform/language/sentence.ts';
import { sharedMedia } from '../support/library.ts';
import { emptyFile, jpeg, plainText, truncatedJpeg } from '../support/pictures.ts';
import { isAlive } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { pdf } from './documents.ts';
import { openStudio } from './still-kit.ts';
import { flac, font, mp3, mp4, pictureFile, stopTagging, tagFile, woff, xmpOf } from './tagged-files.ts';

const run = promisify(execFile);
const { decoders } = sharedMedia();
const { place } = openStudio();

const directory = await temporaryDirectory();
const exiftool = openMetadataReader({ decoders });
const fallback = openMetadataReader({ decoders, perl: null });
afterAll(async () => {
  await exiftool.close();
  await stopTagging();
});

/** Stored files have no extension, so their bytes determine the type. */
const stored = join(directory, 'stored');

async function sourcesOf(path: string, reader = exiftool): Promise<ExtractedValues> {
  const made = await reader.read(path);
  if (made.outcome === 'failed') throw new Error(saySentence('en', made.reason));
  expect(made.fault).toBeNull();
  return made.sources;
}

async function ofBytes(bytes: Uint8Array, reader = exiftool): Promise<ExtractedValues> {
  await writeFile(stored, bytes);
  return sourcesOf(stored, reader);
}

type Tags = Parameters<typeof tagFile>[1];
type Format = Parameters<typeof pictureFile>[1];

async function taggedFile(path: string, tags: Tags, format: Format = 'jpeg'): Promise<string> {
  await pictureFile(path, format);
  await tagFile(path, tags);
  return path;
}

/** Reads what was written as tags into a picture. */
const ofTagged = async (tags: Tags, format?: Format) => sourcesOf(await taggedFile(stored, tags, format));

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
  test.each(['jpeg', 'png', 'heic'] as const)('%s: camera, place and texts of people', async (format) => {
    const found = await ofTagged({ ...camera, ...words }, format);
    expect(found).toMatchObject({ ...fromCamera, ...fromWords });
  });

  test('a file with only IPTC fills every property that IPTC has', async () => {
    const tags = {
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
    };
    expect(await ofTagged(tags)).toMatchObject({
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

  test('places within ten metres of Greenwich and of the equator', async () => {
    const near = {
      'EXIF:GPSLatitude': '51.478',
      'EXIF:GPSLatitudeRef': 'N',
      'EXIF:GPSLongitude': '0.00005',
      'EXIF:GPSLongitudeRef': 'W',
    };
    expect(await ofTagged(near)).toMatchObject({ gps_coordinates: exif('51.478000, -0.000050') });
    expect(coordinates(degrees('1e-07', 'S'), degrees('9', 'E'))).toBe('0.000000, 9.000000');
  });
});

// EXTRACT-4
describe('conflicting standards', () => {
  test('XMP takes precedence over IPTC, and IPTC over EXIF', async () => {
    const tags = {
      'EXIF:ImageDescription': 'exif',
      'IPTC:Caption-Abstract': 'iptc',
      'EXIF:Copyright': 'exif',
      'IPTC:CopyrightNotice': 'iptc',
      'XMP-dc:Rights': 'xmp',
      'EXIF:Artist': 'Mara Lind; Jo Berg',
    };
    expect(await ofTagged(tags)).toMatchObject({
      description: iptc('iptc'),
      copyright: xmp('xmp'),
      creator: exif(['Mara Lind', 'Jo Berg']),
    });
  });

  test.each(['OLYMPUS DIGITAL CAMERA', 'Digital StillCamera', 'My beautiful picture'])(
    'ignores the default description of a camera: %s',
    async (own) => {
      const { description } = await ofTagged({ 'EXIF:ImageDescription': own, 'EXIF:UserComment': 'mine' });
      expect(description).toEqual(exif('mine'));
    },
  );
});

// EXTRACT-5
describe('when a picture was taken', () => {
  const precise = {
    'XMP-photoshop:DateCreated': '2024:05:06',
    'EXIF:DateTimeOriginal': '2024:05:06 07:08:09',
    'EXIF:OffsetTimeOriginal': '-03:30',
  };
  test.each([
    [
      'has no offset when the camera stored none',
      { 'EXIF:DateTimeOriginal': '2024:05:06 07:08:09' },
      exif('2024-05-06T07:08:09'),
    ],
    ['has the precision of the most exact matching tag', precise, exif('2024-05-06T07:08:09-03:30')],
    [
      'ignores exact tags of another day',
      { ...precise, 'XMP-photoshop:DateCreated': '2023:01:01' },
      xmp('2023-01-01'),
    ],
    ['ignores an unset clock', { 'EXIF:DateTimeOriginal': '0000:00:00 00:00:00' }, undefined],
    ['ignores impossible days', { 'XMP-photoshop:DateCreated': '2024:02:31 10:00:00' }, undefined],
  ])('%s', async (_, tags, due) => {
    expect((await ofTagged(tags)).capture_datetime).toEqual(due);
  });
});

/** The web font Inter. */
const inter = createRequire(import.meta.url).resolve(
  '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
);
const fontNames = { 0: '© 2024', 1: 'Vitrine Sans Light', 9: 'Mara Lind', 16: 'Vitrine Sans' };

describe('other files', () => {
  test('PDF: pages and document properties', async () => {
    await writeFile(stored, pdf(['One', 'Two', 'Three']));
    await tagFile(stored, {
      'PDF:Title': 'Report',
      'PDF:Author': 'Mara Lind',
      'PDF:Subject': 'On piers',
      'PDF:Keywords': 'pier, sea',
      'PDF:CreateDate': '2024:05:06 07:08:09+02:00',
    });
    expect(await sourcesOf(stored)).toEqual({
      title: file('Report'),
      creator: file(['Mara Lind']),
      description: file('On piers'),
      keywords: file(['pier', 'sea']),
      capture_datetime: file('2024-05-06T07:08:09+02:00'),
      page_count: file(3),
    });
  });

  test('TIFF: its pages', async () => {
    const page = sharp({ create: { width: 8, height: 24, channels: 3, background: 'red' } });
    const raw = { width: 8, height: 24, channels: 3, pageHeight: 8 } as const;
    const bytes = await sharp(await page.raw().toBuffer(), { raw })
      .tiff()
      .toBuffer();
    expect((await ofBytes(bytes)).page_count).toEqual(file(3));
  });

  test('MP4: length, codec, time and title', async () => {
    await writeFile(stored, mp4(12.5));
    await tagFile(stored, {
      'ItemList:Title': 'Ferry',
      'ItemList:Artist': 'Mara Lind',
      'Keys:Make': 'Vitrine Optics',
      'Keys:Model': 'V1',
      'Keys:GPSCoordinates': '60.39 5.32 10',
    });
    expect(await sourcesOf(stored)).toEqual({
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
    const tags = { TIT2: 'Måne', TPE1: 'Mara Lind', TCOP: '2024 Mara', TYER: '2024' };
    const found = await ofBytes(mp3(200, tags));
    expect(found).toMatchObject({
      title: file('Måne'),
      creator: file(['Mara Lind']),
      copyright: file('2024 Mara'),
      codec: file('mp3'),
    });
    expect(found.duration_seconds?.value).toBeCloseTo(200 * 0.026122, 0);
  });

  test('FLAC: length, codec and comments', async () => {
    const comments = ['TITLE=Måne', 'ARTIST=Mara Lind', 'DESCRIPTION=Slow'];
    expect(await ofBytes(flac(7, comments))).toMatchObject({
      title: file('Måne'),
      creator: file(['Mara Lind']),
      description: file('Slow'),
      codec: file('flac'),
      duration_seconds: file(7),
    });
  });

  test.each([
    ['TrueType', font('ttf', fontNames)],
    ['OpenType', font('otf', fontNames)],
    ['WOFF', woff(fontNames)],
  ])('%s: its typographic family, designer and copyright', async (_, bytes) => {
    expect(await ofBytes(bytes)).toMatchObject({
      font_family: file('Vitrine Sans'),
      copyright: file('© 2024'),
      creator: file(['Mara Lind']),
    });
  });

  test('WOFF2: its family', async () => {
    expect((await sourcesOf(inter)).font_family?.value).toMatch(/^Inter/);
  });

  test('a broken font and a font that unpacks to far too much cannot be read', async () => {
    const bytes = await readFile(inter);
    const zeros = deflateSync(Buffer.alloc(10_000_000));
    const head = woff({ 1: 'x' }).subarray(0, 64);
    head.writeUInt32BE(zeros.length, 52);
    head.writeUInt32BE(10_000_000, 56);
    for (const broken of [bytes.subarray(0, 2000), bytes.subarray(0, 60), Buffer.concat([head, zeros])]) {
      await writeFile(stored, broken);
      expect(await exiftool.read(stored)).toMatchObject({ outcome: 'failed' });
    }
  });
});

describe('without ExifTool', () => {
  test('the fallback reader is in use without a perl, and gives the reason', async () => {
    expect(await fallback.inUse()).toEqual({
      name: 'fallback',
      version: '1',
      reason: 'no perl was found to run ExifTool',
    });
    expect((await exiftool.inUse()).name).toBe('exiftool');
    expect(await fallback.name()).not.toBe(await exiftool.name());
  });

  test.each(['/bin/echo', '/nowhere/perl'])('the fallback reader is in use with %s as perl', async (perl) => {
    const broken = openMetadataReader({ decoders, perl });
    expect(await broken.inUse()).toMatchObject({
      name: 'fallback',
      reason: expect.stringContaining('ExifTool did not start'),
    });
    await broken.close();
  });

  test('pictures give the same metadata', async () => {
    const { rating: _, ...rest } = await ofTagged({ ...camera, ...words });
    expect(await sourcesOf(stored, fallback)).toMatchObject(rest);
  });

  test('reads length, codec and title of sound and names of fonts, but nothing of documents', async () => {
    expect(await ofBytes(flac(7, ['TITLE=Måne', 'ARTIST=Mara Lind']), fallback)).toMatchObject({
      title: file('Måne'),
      creator: file(['Mara Lind']),
      duration_seconds: file(7),
      codec: file('flac'),
    });
    expect(await ofBytes(pdf(['One']), fallback)).toEqual({});
    for (const bytes of [font('ttf', { 1: 'Vitrine Sans' }), woff({ 1: 'Vitrine Sans' })])
      expect(await ofBytes(bytes, fallback)).toEqual({ font_family: file('Vitrine Sans') });
  });
});

/** Writes the bytes to a file of their own. */
const fileOf = async (bytes: Uint8Array) => (await place(bytes)).path;

const goodFile = async () => taggedFile(await fileOf(emptyFile()), { 'XMP-dc:Title': 'Fine' });

/** A TIFF, which may contain XMP of any length. */
const withXmp = async (inside: string) =>
  sharp(await jpeg(20, 20))
    .withXmp(xmpOf(inside))
    .tiff()
    .toBuffer();

const readers = [
  ['ExifTool', exiftool],
  ['the other reader', fallback],
] as const;

describe.each(readers)('%s with damaged or mislabelled files', (_, reader) => {
  test.each([
    ['an empty body', emptyFile()],
    ['a megabyte of junk', randomBytes(1_000_000)],
    ['a megabyte of zeros', Buffer.alloc(1_000_000)],
    ['a text', plainText()],
  ])('%s tells nothing, and that is no failure', async (_, bytes) => {
    const nothing = { outcome: 'read', sources: {}, fault: null };
    expect(await reader.read(await fileOf(bytes))).toMatchObject(nothing);
  });

  test('a truncated file gives the metadata of its beginning, or cannot be read', async () => {
    const whole = await goodFile();
    const bytes = await readFile(whole);
    const cut = await reader.read(await fileOf(bytes.subarray(0, bytes.length - 40)));
    expect(cut).toMatchObject({ outcome: 'read', sources: { title: { value: 'Fine' } } });
    for (const part of [await truncatedJpeg(), mp4(3).subarray(0, 2100), pdf(['One']).subarray(0, 100)]) {
      const made = await reader.read(await fileOf(part));
      expect(made.outcome === 'failed' || Object.keys(made.sources).length <= 1).toBe(true);
    }
  });

  test('the file name is not trusted', async () => {
    const path = join(directory, 'called.mp3');
    await writeFile(path, await withXmp('<dc:title>Fine</dc:title>'));
    expect(await reader.read(path)).toMatchObject({ sources: { title: { value: 'Fine' } } });
  });

  test('XMP 1,000 levels deep and 2,000 entries wide ends within the limit, and the next file is read', async () => {
    const deep = `${'<dc:a rdf:parseType="Resource">'.repeat(1_000)}x${'</dc:a>'.repeat(1_000)}`;
    const wide = `<dc:subject><rdf:Bag>${'<rdf:li>word</rdf:li>'.repeat(2_000)}</rdf:Bag></dc:subject>`;
    for (const inside of [deep, wide, '&a;'.repeat(1000)]) {
      const made = await reader.read(await fileOf(await withXmp(inside)));
      const kept = made.outcome === 'read' ? JSON.stringify([made.sources, made.raw]) : '';
      expect(kept.length).toBeLessThan(300_000);
    }
    expect(await reader.read(await goodFile())).toMatchObject({ sources: { title: { value: 'Fine' } } });
  });

  // EXTRACT-11
  test('texts are storable: bounded, without NUL or lone surrogates', async () => {
    const long = `a&#xD83D;b ${'å'.repeat(50_000)}`;
    const made = await reader.read(
      await fileOf(await withXmp(`<dc:title>${long}</dc:title><dc:description>ok</dc:description>`)),
    );
    const text = JSON.stringify(made);
    expect(text).not.toMatch(/\\u0000|\\ud8/i);
    expect(text.length).toBeLessThan(40_000);
  });
});

describe('ExifTool', () => {
  test('leaves a picture truncated behind its tags to the fallback reader', async () => {
    const whole = await readFile(await taggedFile(stored, { 'EXIF:Make': 'Vitrine Optics' }));
    // The first segment with its length, and the beginning of the next one.
    const exif = whole.indexOf('Exif\0\0', 0, 'latin1') - 4;
    const cut = whole.subarray(0, exif + 2 + whole.readUInt16BE(exif + 2) + 6);
    expect(await exiftool.read(await fileOf(cut))).toMatchObject({
      sources: { camera_make: { value: 'Vitrine Optics', from: 'exif' } },
      fault: null,
    });
  });

  test('is killed on an endless file, and the next file is read', async () => {
    const reader = openMetadataReader({ decoders, timeoutMs: 2000 });
    const pipe = join(directory, 'pipe');
    await run('mkfifo', [pipe]);
    await reader.name();
    const due = { outcome: 'failed', reason: { text: 'the file took too long to read' } };
    expect(await reader.read(pipe)).toMatchObject(due);
    expect(await reader.read(await goodFile())).toMatchObject({ outcome: 'read', fault: null });
    await reader.close();
  });

  test('runs no configuration file that it finds, and ends with the process that started it, even when that is killed', async () => {
    const ran = join(directory, 'ran');
    await writeFile(join(directory, '.ExifTool_config'), `open(my $f, '>', '${ran}'); close $f; 1;\n`);
    const module = (path: string) => JSON.stringify(join(import.meta.dirname, '../../src/media', path));
    const script = `const { openMetadataReader } = await import(${module('metadata/reader.ts')});
      const { openDecoders } = await import(${module('decoding/decoders.ts')});
      const { execFileSync } = await import('node:child_process');
      const reader = openMetadataReader({ decoders: openDecoders() });
      const { title } = (await reader.read(${JSON.stringify(await goodFile())})).sources;
      const children = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(process.pid)]);
      process.stdout.write(title.value + '\\n' + children, () => process.kill(process.pid, 'SIGKILL'));`;
    const env = { PATH: process.env.PATH ?? '', HOME: directory, EXIFTOOL_HOME: directory };
    const args = ['--input-type=module', '-e', script];
    const ended = await run(process.execPath, args, { cwd: directory, env }).catch(
      (error: { stdout?: string }) => error,
    );
    expect(ended.stdout).toMatch(/^Fine\n/);
    await expect(access(ran)).rejects.toThrow('ENOENT');
    const programs = [...(ended.stdout ?? '').matchAll(/^\s*(\d+) perl$/gm)].map(([, pid]) => Number(pid));
    expect(programs.length).toBeGreaterThan(0);
    await expect.poll(() => programs.filter(isAlive)).toEqual([]);
  });
});
