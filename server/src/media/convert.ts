import { execFile } from 'node:child_process';
import { copyFile, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Sharp } from 'sharp';
import { type Sentence, sentence } from '../platform/language/sentence.ts';
import { requireRoomIn } from './faults.ts';
import { contain } from './ladder.ts';
import { mostPixels, refusalOf } from './raster.ts';
import { openStill } from './renderable.ts';
import { tooManyPixels } from './still.ts';
import { drawableSvg } from './svg.ts';
import { sharp, strictnessOf, webp } from './tuned-sharp.ts';

/** What a copy for a download is. */
export interface Conversion {
  format: 'original' | 'jpeg' | 'png' | 'webp' | 'avif' | 'tiff';
  /** Longest edge in pixels; null for that of the file. */
  maxDim: number | null;
  quality: number;
  colour: 'keep' | 'srgb';
  metadata: 'keep' | 'rights' | 'fields' | 'strip';
  /** With `fields`: the tags to write, a list as one entry for each of its texts. */
  tags: readonly (readonly [tag: string, value: string])[];
}

/** Longest edges that the formats allow. */
const longestEdge = { jpeg: 65_500, png: 65_500, webp: 16_383, avif: 16_384, tiff: 65_500 } as const;

/** Maximum time of ExifTool for one file. */
const EXIFTOOL_MS = 30_000;

function encode(picture: Sharp, { format, quality }: Conversion): Sharp {
  switch (format) {
    case 'png':
      return picture.png();
    case 'webp':
      return picture.webp({ ...webp, quality });
    case 'avif':
      return picture.avif({ quality, effort: 2 });
    case 'tiff':
      return picture.tiff({ compression: 'lzw' });
    default:
      // JPEG has no transparency; uses a white background, as on paper.
      return picture.flatten({ background: 'white' }).jpeg({ quality, progressive: true });
  }
}

/** Draws a picture in the form of the copy, without metadata. Returns the reason if it cannot be done. */
async function draw(
  picture: { path: string; mime: string },
  conversion: Conversion & { format: keyof typeof longestEdge },
  to: string,
): Promise<Sentence | null> {
  const limit = mostPixels(picture.mime);
  const bytes = picture.mime === 'image/svg+xml' ? drawableSvg(await readFile(picture.path)) : picture.path;
  const options = { ...strictnessOf(picture.mime), limitInputPixels: limit, sequentialRead: true };
  const { autoOrient } = await sharp(bytes, { ...options, limitInputPixels: false }).metadata();
  const { width, height } = autoOrient;
  if (width * height > limit) return tooManyPixels({ width, height }).sentence;
  const edge = Math.min(conversion.maxDim ?? Math.max(width, height), longestEdge[conversion.format]);
  const shape = contain(edge, autoOrient);
  const upright = sharp(bytes, options).autoOrient().resize(shape.width, shape.height, { fit: 'fill' });
  const coloured =
    conversion.colour === 'srgb'
      ? upright.toColourspace('srgb').withIccProfile('srgb')
      : upright.keepIccProfile();
  await encode(coloured, conversion).toFile(to);
  return null;
}

const rights = [
  ...['XMP-dc:Creator', 'XMP-dc:Rights', 'XMP-photoshop:Credit', 'XMP-xmpRights:all'],
  ...['IPTC:By-line', 'IPTC:CopyrightNotice', 'IPTC:Credit', 'EXIF:Artist', 'EXIF:Copyright'],
];

/** What describes the pixels of the original and not those of the copy. */
const ofPixels = [
  ...['IFD1:all', 'ICC_Profile:all', 'EXIF:Orientation', 'EXIF:ExifImageWidth', 'EXIF:ExifImageHeight'],
  ...[
    'EXIF:ImageWidth',
    'EXIF:ImageHeight',
    'EXIF:Compression',
    'PreviewImage',
    'JpgFromRaw',
    'MakerNotes:all',
  ],
  ...['EXIF:StripOffsets', 'EXIF:StripByteCounts', 'EXIF:RowsPerStrip', 'EXIF:ColorSpace', 'XMP-tiff:all'],
];

/** Returns the arguments of ExifTool that turn the metadata of the copy into what is wanted. */
function writing({ format, metadata, tags }: Conversion, original: string): string[] {
  const isCopy = format === 'original';
  // The copy of an original keeps what its pixels need.
  const clear = isCopy
    ? ['-all=', '-TagsFromFile', '@', '-ICC_Profile:all', '-EXIF:Orientation', '-ColorSpaceTags']
    : [];
  if (metadata === 'strip') return clear;
  if (metadata === 'keep')
    return isCopy ? [] : ['-TagsFromFile', original, '-all:all', ...ofPixels.map((tag) => `--${tag}`)];
  if (metadata === 'rights') return [...clear, '-TagsFromFile', original, ...rights.map((tag) => `-${tag}`)];
  return [...clear, ...tags.map(([tag, value]) => `-${tag}=${value}`)];
}

/** Writes metadata with ExifTool into a copy. Returns the reason if it cannot be done. */
async function writeMetadata(
  copy: string,
  original: string,
  conversion: Conversion,
  to: string,
): Promise<Sentence | null> {
  const args = writing(conversion, original);
  if (args.length === 0) {
    if (copy === original) await copyFile(copy, to);
    else await rename(copy, to);
    return null;
  }
  const { exifToolScript, findPerl } = await import('./metadata/exiftool.ts');
  const perl = await findPerl(process.env.PATH ?? '');
  if (perl === null) return sentence('no perl was found to write metadata with ExifTool');
  const options = ['-config', '', '-q', '-q', '-m', '-codedcharacterset=utf8', '-charset', 'iptc=UTF8'];
  await promisify(execFile)(perl, [await exifToolScript(), ...options, ...args, '-o', to, copy], {
    env: { LANG: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' },
    timeout: EXIFTOOL_MS,
    killSignal: 'SIGKILL',
  }).catch(() => null);
  // Nothing to write, or a type that it cannot write.
  if (await stat(to).catch(() => null)) return null;
  if (conversion.format === 'original') return sentence('its metadata cannot be changed');
  await rename(copy, to);
  return null;
}

/**
 * Writes a copy of a picture for a download to `to`. Resolves to the reason if it cannot be made. Rejects only on faults
 * of the machine.
 */
export async function convertFile(
  file: { path: string; mime: string },
  conversion: Conversion,
  outDir: string,
  to: string,
): Promise<Sentence | null> {
  try {
    const { format } = conversion;
    if (format === 'original') return await writeMetadata(file.path, file.path, conversion, to);
    const { picture } = await openStill(file, outDir);
    if (picture === null) return sentence('nothing to draw');
    const drawn = join(outDir, `drawn.${format}`);
    const fault = await draw(picture, { ...conversion, format }, drawn);
    return fault ?? (await writeMetadata(drawn, file.path, conversion, to));
  } catch (error) {
    const reason = refusalOf(error);
    await requireRoomIn(outDir);
    return reason;
  }
}
