import { describe, expect, test } from 'vitest';
import { legible } from '../../src/media/metadata/legible.ts';
import { readSources } from '../../src/media/metadata/mapping.ts';
import { indexTags } from '../../src/media/metadata/tags.ts';

const read = (tags: Readonly<Record<string, unknown>>) => readSources(indexTags(Object.entries(tags)));

// EXTRACT-13
describe('a capture date', () => {
  const scanned = { 'EXIF:ExifIFD:DateTimeOriginal': '2019:03:02 10:00:00' };
  test.each<[string, Readonly<Record<string, unknown>>, string | undefined]>([
    ['only the year is known', { 'XMP:XMP-photoshop:DateCreated': 1965, ...scanned }, '1965'],
    ['only the month is known', { 'XMP:XMP-photoshop:DateCreated': '1965:06', ...scanned }, '1965-06'],
    ['IPTC fills the day with zeros', { 'IPTC:DateCreated': '1965:06:00', ...scanned }, '1965-06'],
    ['IPTC fills month and day with zeros', { 'IPTC:DateCreated': '19650000', ...scanned }, '1965'],
    ['it is before 1800', { 'XMP:XMP-photoshop:DateCreated': '1723:04:05', ...scanned }, '1723-04-05'],
    ['the clock was not set', { 'EXIF:ExifIFD:DateTimeOriginal': '0000:00:00 00:00:00' }, undefined],
    [
      'the receiver knows another one',
      { 'EXIF:GPS:GPSDateStamp': '2018:01:02', 'EXIF:GPS:GPSTimeStamp': '03:04:05', ...scanned },
      '2019-03-02T10:00:00',
    ],
    [
      'only the receiver knows one',
      { 'EXIF:GPS:GPSDateStamp': '2019:01:02', 'EXIF:GPS:GPSTimeStamp': '03:04:05' },
      '2019-01-02T03:04:05Z',
    ],
  ])('is what the file says when %s', (_, tags, date) => {
    expect(read(tags).capture_datetime?.value).toBe(date);
  });
});

// EXTRACT-14
test.each<[string, Readonly<Record<string, unknown>>, string[]]>([
  ['Lightroom', { 'XMP:XMP-lr:HierarchicalSubject': 'Nature|Animals|Cat' }, ['Cat']],
  ['digiKam', { 'XMP:XMP-digiKam:TagsList': ['Nature/Animals/Dog', 'Sea'] }, ['Dog', 'Sea']],
  ['Windows', { 'XMP:XMP-microsoft:LastKeywordXMP': 'Nature/Bird' }, ['Bird']],
  ['Media Pro', { 'XMP:XMP-mediapro:CatalogSets': 'Nature|Fox' }, ['Fox']],
  [
    'several programs',
    {
      'IPTC:Keywords': 'only-iptc',
      'XMP:XMP-dc:Subject': 'only-xmp',
      'XMP:XMP-lr:HierarchicalSubject': 'A|only-hier',
    },
    ['only-xmp', 'only-hier', 'only-iptc'],
  ],
])('keywords are those that %s wrote, in a hierarchy or not', (_, tags, keywords) => {
  expect(read(tags).keywords?.value).toEqual(keywords);
});

test.each([
  'fr',
  'en-US',
  'eng',
  'es-419',
  'zh-yue',
  'zh-hant',
  'zh-Hant-TW',
  'zh-hant-tw',
  'de-CH-1996',
  'ca-valencia',
])('a title only in the language %s is the title', (language) => {
  expect(read({ [`XMP:XMP-dc:Title-${language}`]: 'Harbour' }).title?.value).toBe('Harbour');
});

// EXTRACT-15
test.each([
  ['JÃ¶rg MÃ¼ller', 'Jörg Müller'],
  ['ÄŒeskÃ¡', 'Česká'],
  ['José Müller', 'José Müller'],
  ['© Größe', '© Größe'],
  ['Łukasz', 'Łukasz'],
  ['東京', '東京'],
])('a text in UTF-8 that is not declared is legible: %s', (text, meant) => {
  expect(legible(text)).toBe(meant);
  expect(read({ 'IPTC:By-line': text }).creator?.value).toEqual([meant]);
});
