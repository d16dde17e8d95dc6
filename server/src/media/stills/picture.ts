import { join } from 'node:path';
import { sentence } from '../../platform/language/sentence.ts';
import { stillOfFrames } from '../animation.ts';
import { spaceOfPng } from '../colour/png.ts';
import { type ColourSpace, rowConverter, spaceOfCodePoints } from '../colour/space.ts';
import { orNone, spaceOfJpeg, spaceOfTiff } from '../colour/tags.ts';
import { type Source, withSource } from '../source.ts';
import { asFileFault, BrokenFile, type StillMaker } from '../still.ts';
import { sharp, strictnessOf } from '../tuned-sharp.ts';
import { heifColourOf } from './heif-properties.ts';
import { mend } from './mend.ts';
import { drawTiff, hasFloats } from './tiff.ts';
import { writeTiff } from './tiff-writer.ts';

/** Larger than the properties of any AVIF. */
const PROPERTIES_BYTES = 16 * 1024 ** 2;
/** A picture with more samples keeps its numbers, because they are converted in memory. */
const MOST_SAMPLE_BYTES = 800_000_000;

/** Readers of colour that is described otherwise than by an ICC profile, by media type. libvips ignores these. */
const describedBy: ReadonlyMap<string, (source: Source) => ColourSpace | null> = new Map([
  ['image/png', spaceOfPng],
  ['image/apng', spaceOfPng],
  ['image/jpeg', orNone(spaceOfJpeg)],
  ['image/tiff', orNone(spaceOfTiff)],
  [
    'image/avif',
    (source) => {
      const { profile, points } = heifColourOf(source.readUpTo(0, PROPERTIES_BYTES));
      return profile === null && points !== null ? spaceOfCodePoints(points) : null;
    },
  ],
]);

/** Writes the picture upright in sRGB; returns null if it is too large. */
async function convert(path: string, mime: string, space: ColourSpace, outDir: string) {
  const open = () => sharp(path, { ...strictnessOf(mime), ignoreIcc: true, limitInputPixels: false });
  const { autoOrient, hasAlpha, depth } = await open().metadata();
  const { width, height } = autoOrient;
  const isDeep = depth === 'ushort';
  const samples = hasAlpha ? 4 : 3;
  if (width * height * samples * (isDeep ? 2 : 1) > MOST_SAMPLE_BYTES) return null;
  const data = await open()
    .autoOrient()
    .toColourspace(isDeep ? 'rgb16' : 'srgb')
    .raw({ depth: isDeep ? 'ushort' : 'uchar' })
    .toBuffer();
  const pixels = isDeep ? new Uint16Array(data.buffer, data.byteOffset, data.length / 2) : data;
  const toSrgb = rowConverter(space, isDeep ? 65_535 : 255);
  const rows = function* () {
    for (let row = 0; row < height; row += 1) {
      yield toSrgb(pixels.subarray(row * width * samples, (row + 1) * width * samples), samples);
    }
  };
  const picture = { path: join(outDir, 'still.tiff'), mime: 'image/tiff' };
  writeTiff(picture.path, { width, height, model: 'rgb', alpha: hasAlpha }, rows());
  return picture;
}

/**
 * Makes a picture of a file that libvips opens: the file itself, or a copy in sRGB if its colours are described
 * otherwise than by an ICC profile. Says whether it is animated.
 */
export const pictureStill: StillMaker = async (file, outDir) => {
  if (file.mime === 'image/tiff' && (await withSource(file.path, hasFloats)))
    return { picture: await drawTiff(file.path, outDir) };
  const still = await stillOfFrames(file, outDir);
  const read = describedBy.get(file.mime);
  if (read === undefined || still.picture?.path !== file.path) return still;
  const space = await withSource(file.path, read);
  if (space === null) return still;
  const draw = (path: string) =>
    asFileFault(sentence('its pixels cannot be decoded'), () => convert(path, file.mime, space, outDir));
  const picture = await draw(file.path).catch(async (error: unknown) => {
    const whole = error instanceof BrokenFile ? await mend(file, outDir) : null;
    if (whole === null) throw error;
    return draw(whole.path);
  });
  return picture === null ? still : { ...still, picture };
};
