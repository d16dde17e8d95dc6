import { PERSON_NAMES } from './people.ts';
import type { ExtractedValue, ExtractedValues, Source } from './source.ts';
import { originOf, type Tags } from './tags.ts';
import {
  codec,
  coordinates,
  degrees,
  dividedList,
  dividedMoment,
  exposure,
  list,
  moment,
  mostExact,
  names,
  numberWithin,
  seconds,
  words,
  written,
} from './values.ts';

/** Increase this when the mapping changes, so that a backfill reads stored files again. */
export const MAPPING_VERSION = 5;

type Value = ExtractedValue['value'];

/** Reads a source from the tags of a file. */
type Rule = (tags: Tags) => ExtractedValue | undefined;
type ReadValue = (values: readonly string[]) => Value | undefined;

/**
 * Returns a rule for the first of these tags that has a value; `[tag, read]` for formats that encode it differently.
 */
function first(read: ReadValue, ...order: readonly (string | readonly [string, ReadValue])[]): Rule {
  return (tags) => {
    for (const entry of order) {
      const [tag, readOwn] = typeof entry === 'string' ? ([entry, read] as const) : entry;
      const values = tags.get(tag);
      const value = values === undefined ? undefined : readOwn(values);
      if (value !== undefined) return { value, from: originOf(tag) };
    }
    return undefined;
  };
}

/** Returns a rule for the first of these that has a value. */
function firstOf(...rules: readonly Rule[]): Rule {
  return (tags) => {
    for (const rule of rules) {
      const found = rule(tags);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** Lists of keywords, and what separates the levels of those that are hierarchies. */
const keywordTags: readonly (readonly [tag: string, separator: string | null])[] = [
  ['XMP-dc:Subject', null],
  ['XMP-lr:HierarchicalSubject', '|'],
  ['XMP-digiKam:TagsList', '/'],
  ['XMP-microsoft:LastKeywordXMP', '/'],
  ['XMP-mediapro:CatalogSets', '|'],
  ['IPTC:Keywords', null],
];

/** Returns the keywords of all lists, because programs write some of them only. Of a hierarchy, the last level counts. */
function readKeywords(tags: Tags): ExtractedValue | undefined {
  const found = keywordTags.filter(([tag]) => tags.has(tag));
  const [first] = found;
  if (first === undefined) return undefined;
  const words = found.flatMap(([tag, separator]) =>
    (tags.get(tag) ?? []).map((word) => (separator === null ? word : (word.split(separator).at(-1) ?? word))),
  );
  const value = list(words);
  return value === undefined ? undefined : { value, from: originOf(first[0]) };
}

/** The colour labels of digiKam and darktable, which write their numbers. */
const labelsOfDigiKam = ['Red', 'Orange', 'Yellow', 'Green', 'Blue', 'Magenta', 'Gray', 'Black', 'White'];
const labelsOfDarktable = ['Red', 'Yellow', 'Green', 'Blue', 'Purple'];

/** Returns a function that names the labels of these numbers, of which the first is the label of `least`. */
function labelled(names: readonly string[], least: number): ReadValue {
  return (values) => {
    const found = values.flatMap((value) => names[Number(value) - least] ?? []);
    return found.length === 0 ? undefined : found.join(', ');
  };
}

/** The rating of Windows in percent, as stars. */
const starsOfPercent: ReadValue = (values) => {
  const percent = Number(values[0] ?? Number.NaN);
  if (!(percent > 0 && percent <= 100)) return undefined;
  return percent >= 99 ? 5 : Math.floor(percent / 25) + 1;
};

/** Keywords below `People` in the hierarchies of programs that recognise faces. */
const peopleTags: readonly (readonly [tag: string, root: RegExp])[] = [
  ['XMP-digiKam:TagsList', /^People\//],
  ['XMP-lr:HierarchicalSubject', /^People\|/],
];

/** Returns the people of all regions and lists, because programs write some of them only. */
function readPeople(tags: Tags): ExtractedValue | undefined {
  const named = [PERSON_NAMES, 'XMP-MP:RegionPersonDisplayName', 'XMP-iptcExt:PersonInImage'].flatMap(
    (tag) => tags.get(tag) ?? [],
  );
  const inTree = peopleTags.flatMap(([tag, root]) =>
    (tags.get(tag) ?? []).filter((word) => root.test(word)).map((word) => word.split(/[/|]/).at(-1) ?? word),
  );
  const value = list([...named, ...inTree]);
  return value === undefined ? undefined : { value, from: 'xmp' };
}

/** Time tags in order of preference, each with the tag of its offset. */
const times: readonly (readonly [tag: string, offset?: string])[] = [
  ['XMP-exif:DateTimeOriginal', 'XMP-exifEX:OffsetTimeOriginal'],
  ['XMP-photoshop:DateCreated'],
  ['IPTC:DateCreated'],
  ['EXIF:DateTimeOriginal', 'EXIF:OffsetTimeOriginal'],
  ['XMP-xmp:CreateDate'],
  ['IPTC:DigitalCreationDate'],
  ['EXIF:CreateDate', 'EXIF:OffsetTimeDigitized'],
  ['QuickTime:CreationDate'],
  ['QuickTime:DateTimeOriginal'],
  ['QuickTime:ContentCreateDate'],
  ['QuickTime:CreateDate'],
  ['ID3:RecordingTime'],
  ['ID3:OriginalReleaseTime'],
  ['RIFF:DateTimeOriginal'],
  ['RIFF:DateCreated'],
  ['Matroska:DateTimeOriginal'],
  ['Vorbis:Date'],
  ['ASF:CreationDate'],
  ['PNG:CreationTime'],
  ['PDF:CreateDate'],
  ['XML:CreateDate'],
  ['PostScript:CreateDate'],
  ['EXIF:ModifyDate', 'EXIF:OffsetTime'],
  // Only the day may be right: the receiver may have had its last fix long before.
  ['XMP-exif:GPSDateTime'],
  ['EXIF:GPSDateStamp'],
];

/** Tags with the time of day for tags that contain only a date. */
const timeOfDay = new Map([
  ['IPTC:DateCreated', 'IPTC:TimeCreated'],
  ['IPTC:DigitalCreationDate', 'IPTC:DigitalCreationTime'],
  ['EXIF:GPSDateStamp', 'EXIF:GPSTimeStamp'],
]);

/** Tags whose times are in UTC by definition of the container. */
const utcClocks = new Set([
  'QuickTime:CreateDate',
  'ASF:CreationDate',
  'Matroska:DateTimeOriginal',
  'XMP-exif:GPSDateTime',
  'EXIF:GPSDateStamp',
]);

function readMoment(tags: Tags): ExtractedValue | undefined {
  const found = times.flatMap(([tag, offsetTag]) => {
    const text = tags.get(tag)?.[0];
    if (text === undefined) return [];
    const clock = timeOfDay.get(tag);
    const offset = utcClocks.has(tag) ? 'Z' : offsetTag === undefined ? '' : (tags.get(offsetTag)?.[0] ?? '');
    const value =
      clock === undefined ? moment(text, offset) : dividedMoment(text, tags.get(clock)?.[0] ?? '', offset);
    return value === undefined ? [] : [{ value, from: originOf(tag) }];
  });
  return mostExact(found);
}

function readPosition(tags: Tags): ExtractedValue | undefined {
  const pair = (group: string, latitude: number, longitude: number): ExtractedValue | undefined => {
    const value = coordinates(latitude, longitude);
    return value === undefined ? undefined : { value, from: originOf(`${group}:GPSPosition`) };
  };
  const firstOf = (group: string, name: string) => tags.get(`${group}:${name}`)?.[0];
  const inGroup = (group: string) =>
    pair(
      group,
      degrees(firstOf(group, 'GPSLatitude'), firstOf(group, 'GPSLatitudeRef')),
      degrees(firstOf(group, 'GPSLongitude'), firstOf(group, 'GPSLongitudeRef')),
    );
  const [latitude, longitude] = (firstOf('QuickTime', 'GPSCoordinates') ?? '').split(/[ ,]+/);
  return (
    inGroup('XMP-exif') ??
    inGroup('EXIF') ??
    pair('QuickTime', degrees(latitude, undefined), degrees(longitude, undefined)) ??
    inGroup('Composite')
  );
}

/** Returns the tags of audio and video containers for the same property; they differ only in the group. */
function media(...tagNames: readonly string[]): string[] {
  const groups = ['QuickTime', 'ID3', 'Vorbis', 'RIFF', 'Matroska', 'ASF', 'APE', 'Media'];
  return groups.flatMap((group) => tagNames.map((name) => `${group}:${name}`));
}

/** Returns a colour space, ignoring values without information such as `Uncalibrated`. */
const colours: ReadValue = (values) => {
  const text = values[0]?.trim() ?? '';
  if (/^(?:uncalibrated|unknown.*|icc profile|reserved.*|unspecified|none)$/i.test(text)) return undefined;
  if (/^sRGB/i.test(text)) return 'sRGB';
  if (/^Adobe RGB/i.test(text)) return 'Adobe RGB';
  return text === '' ? undefined : text.slice(0, 200);
};

/** Returns a lens, ignoring placeholders for an unknown one. */
const lens: ReadValue = (values) => {
  const text = values[0] ?? '';
  return /^(?:-+|n\/a|unknown.*|none|manual lens.*|0(?:\.0)? ?mm f\/0(?:\.0)?|65535)$/i.test(text)
    ? undefined
    : text;
};

const count = numberWithin(1, 1_000_000);

/**
 * The tags of each canonical source in order of preference. XMP precedes IPTC, and IPTC precedes EXIF, because
 * programs write corrections to XMP first. Format-specific tags come last.
 */
const mapping: { readonly [S in Source]: Rule } = {
  title: first(
    words,
    'XMP-dc:Title',
    'IPTC:ObjectName',
    'EXIF:XPTitle',
    ...media('Title', 'DisplayName'),
    'PDF:Title',
    'PNG:Title',
    'XML:Title',
    'SVG:Title',
    'PostScript:Title',
  ),
  description: first(
    written,
    'XMP-dc:Description',
    'IPTC:Caption-Abstract',
    'EXIF:ImageDescription',
    'EXIF:XPComment',
    'EXIF:UserComment',
    ...media('Description', 'LongDescription', 'Comment'),
    'PDF:Subject',
    'PNG:Description',
    'PNG:Comment',
    'XML:Description',
    'XML:Subject',
    'SVG:Desc',
  ),
  creator: first(
    list,
    'XMP-dc:Creator',
    'IPTC:By-line',
    ['EXIF:Artist', names],
    ['EXIF:XPAuthor', names],
    ...media('Artist', 'Author', 'Performer').map((tag) => [tag, names] as const),
    ['PDF:Author', names],
    ['PNG:Author', names],
    ['PNG:Artist', names],
    ['XML:Creator', names],
    ['Font:Designer', names],
  ),
  copyright: first(
    words,
    'XMP-dc:Rights',
    'IPTC:CopyrightNotice',
    'EXIF:Copyright',
    ...media('Copyright'),
    'PDF:Copyright',
    'PNG:Copyright',
    'Font:Copyright',
  ),
  credit: first(words, 'XMP-photoshop:Credit', 'IPTC:Credit'),
  keywords: firstOf(
    readKeywords,
    first(
      list,
      ['EXIF:XPKeywords', dividedList],
      ['XMP-pdf:Keywords', dividedList],
      ...media('Keywords', 'Keyword').map((tag) => [tag, dividedList] as const),
      ['PDF:Keywords', dividedList],
      ['PNG:Keywords', dividedList],
      ['XML:Keywords', dividedList],
      ['PostScript:Keywords', dividedList],
    ),
  ),
  rating: first(
    numberWithin(-1, 5),
    'XMP-xmp:Rating',
    ['XMP-microsoft:RatingPercent', starsOfPercent],
    'EXIF:Rating',
    'QuickTime:Rating',
  ),
  label: first(
    words,
    'XMP-xmp:Label',
    ['XMP-digiKam:ColorLabel', labelled(labelsOfDigiKam, 1)],
    ['XMP-darktable:Colorlabels', labelled(labelsOfDarktable, 0)],
  ),
  people: readPeople,
  capture_datetime: readMoment,
  camera_make: first(words, 'XMP-tiff:Make', 'EXIF:Make', 'QuickTime:Make', 'MakerNotes:Make'),
  camera_model: first(words, 'XMP-tiff:Model', 'EXIF:Model', 'QuickTime:Model', 'MakerNotes:Model'),
  lens: first(
    lens,
    'XMP-exifEX:LensModel',
    'XMP-aux:Lens',
    'EXIF:LensModel',
    'QuickTime:LensModel',
    'MakerNotes:LensModel',
    'Composite:LensID',
    'MakerNotes:LensType',
  ),
  exposure_time: first(exposure, 'XMP-exif:ExposureTime', 'EXIF:ExposureTime', 'Composite:ShutterSpeed'),
  aperture: first(numberWithin(0.1, 1000), 'XMP-exif:FNumber', 'EXIF:FNumber', 'Composite:Aperture'),
  iso: first(
    numberWithin(1, 100_000_000),
    'XMP-exifEX:PhotographicSensitivity',
    'XMP-exif:ISO',
    'EXIF:ISO',
    'MakerNotes:ISO',
    'Composite:ISO',
  ),
  focal_length: first(
    numberWithin(0.1, 100_000),
    'XMP-exif:FocalLength',
    'EXIF:FocalLength',
    'QuickTime:FocalLength',
    'MakerNotes:FocalLength',
  ),
  gps_coordinates: readPosition,
  city: first(words, 'XMP-photoshop:City', 'XMP-iptcExt:LocationCreatedCity', 'IPTC:City'),
  country: first(
    words,
    'XMP-photoshop:Country',
    'XMP-iptcExt:LocationCreatedCountryName',
    'IPTC:Country-PrimaryLocationName',
  ),
  duration_seconds: first(
    seconds,
    'QuickTime:Duration',
    'Matroska:Duration',
    'ASF:Duration',
    'ASF:PlayDuration',
    'Composite:Duration',
    'RIFF:Duration',
    'Media:Duration',
  ),
  codec: first(
    codec,
    'QuickTime:CompressorID',
    'Matroska:VideoCodecID',
    'RIFF:VideoCodec',
    'Composite:VideoCodec',
    'QuickTime:AudioFormat',
    'Matroska:AudioCodecID',
    'RIFF:Encoding',
    'Media:Codec',
    'ASF:VideoCodecName',
    'ASF:AudioCodecName',
    ['File:FileType', (values) => soundFormats.get(values[0] ?? '')],
  ),
  page_count: first(count, 'PDF:PageCount', 'XML:Pages', 'PostScript:Pages', 'File:PageCount', 'DjVu:Pages'),
  font_family: first(words, 'Font:PreferredFamily', 'Font:FontFamily', 'Font:FontName'),
  color_space: first(
    colours,
    'ICC_Profile:ProfileDescription',
    'EXIF:ColorSpace',
    'XMP-exif:ColorSpace',
    ['PNG:SRGBRendering', () => 'sRGB'],
    'QuickTime:ColorPrimaries',
    'ICC_Profile:ColorSpaceData',
  ),
};

/** File types whose name is that of their only codec. */
const soundFormats = new Map([
  ['MP3', 'mp3'],
  ['FLAC', 'flac'],
  ['OPUS', 'opus'],
  ['OGG', 'vorbis'],
]);

/** Returns every canonical source that these tags have a value for. */
export function readSources(tags: Tags): ExtractedValues {
  const found: ExtractedValues = {};
  const all = Object.entries(mapping).flatMap(([source, rule]) => {
    const value = rule(tags);
    return value === undefined ? [] : [[source, value] as const];
  });
  return Object.assign(found, Object.fromEntries(all));
}
