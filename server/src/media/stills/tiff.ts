import { basename, join } from 'node:path';
import { type Source, withSource } from '../source.ts';
import { type Still, unreadablePixels } from '../still.ts';
import { photometrics, readTiff, type TiffSamples } from './tiff-reader.ts';
import { type TiffLayout, writeTiff } from './tiff-writer.ts';
import { labToSrgb, type Tone, toneMap, toneOf } from './tone.ts';

/** Larger pictures are not drawn here, because their samples are held in memory. */
const MOST_SAMPLES = 200_000_000;

/** Returns all samples of a picture. */
async function samplesOf(tiff: TiffSamples): Promise<Float32Array> {
  const count = tiff.width * tiff.height * tiff.samples;
  if (count > MOST_SAMPLES) throw unreadablePixels(`${count} samples`);
  const all = new Float32Array(count);
  let end = 0;
  for await (const band of tiff.bands()) {
    all.set(band, end);
    end += band.length;
  }
  return all;
}

/** Returns the smallest and the largest finite number of the first `colours` samples of each pixel. */
function rangeOf(all: Float32Array, samples: number, colours: number): { least: number; most: number } {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < all.length; at += samples) {
    for (let sample = at; sample < at + colours; sample += 1) {
      const value = all[sample] ?? Number.NaN;
      if (!Number.isFinite(value)) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  return most < least ? { least: 0, most: 1 } : { least, most };
}

/** Brightest light of a picture of a scene; larger numbers are measurements in other units. */
const MOST_LIGHT = 1000;

type Draw = (all: Float32Array, at: number, to: Uint8Array, into: number) => void;

/** Returns how a pixel of integers from 0 to `most` becomes 8 bits. */
function drawLevels(colours: number, least: number, most: number, isInverted: boolean): Draw {
  const scale = 255 / (most - least || 1);
  return (all, at, to, into) => {
    for (let sample = 0; sample < colours; sample += 1) {
      const level = Math.min(255, Math.max(0, ((all[at + sample] ?? 0) - least) * scale));
      to[into + sample] = Math.round(isInverted ? 255 - level : level);
    }
  };
}

/** Returns how a pixel of light becomes sRGB. */
function drawLight(all: Float32Array, samples: number, colours: number): Draw {
  const light = (at: number): [number, number, number] => {
    const red = all[at] ?? 0;
    return colours === 1 ? [red, red, red] : [red, all[at + 1] ?? 0, all[at + 2] ?? 0];
  };
  const tone: Tone = toneOf(all.length / samples, (pixel) => light(pixel * samples));
  const drawn = new Uint8Array(3);
  return (_, at, to, into) => {
    toneMap(tone, light(at), drawn, 0);
    for (let sample = 0; sample < colours; sample += 1) to[into + sample] = drawn[sample] ?? 0;
  };
}

/** Returns how a pixel of L*a*b* becomes sRGB. `iccLab` has unsigned a* and b* around the middle of their range. */
function drawLab({ bits, photometric, format }: TiffSamples): Draw {
  const most = 2 ** bits;
  const signed = (value: number) => {
    if (photometric === photometrics.iccLab) return value - most / 2;
    return value >= most / 2 ? value - most : value;
  };
  const scale = 2 ** (bits - 8);
  const drawn: number[] = [];
  return (all, at, to, into) => {
    const [lightness = 0, a = 0, b = 0] = all.subarray(at, at + 3);
    if (format === 'float') labToSrgb(lightness, a, b, 255, drawn);
    else labToSrgb((lightness / (most - 1)) * 100, signed(a) / scale, signed(b) / scale, 255, drawn);
    to.set(drawn, into);
  };
}

function drawPalette({ palette, bits }: TiffSamples): Draw {
  const count = 2 ** bits;
  return (all, at, to, into) => {
    const index = all[at] ?? 0;
    for (let sample = 0; sample < 3; sample += 1)
      to[into + sample] = (palette[sample * count + index] ?? 0) >> 8;
  };
}

/** Returns the model of the drawn picture, and how each pixel is drawn. */
function drawingOf(
  tiff: TiffSamples,
  all: Float32Array,
): { model: TiffLayout['model']; colours: number; draw: Draw } {
  const { photometric, samples, bits, format } = tiff;
  const isLab = photometric === photometrics.lab || photometric === photometrics.iccLab;
  if (isLab && samples >= 3) return { model: 'rgb', colours: 3, draw: drawLab(tiff) };
  if (photometric === photometrics.palette) return { model: 'rgb', colours: 3, draw: drawPalette(tiff) };
  const isInks = photometric === photometrics.cmyk;
  if (isInks && samples < 4) throw unreadablePixels('inks');
  if (photometric > photometrics.rgb && !isInks)
    throw unreadablePixels(`photometric interpretation ${photometric}`);
  const colours = isInks ? 4 : photometric === photometrics.rgb && samples >= 3 ? 3 : 1;
  const model = isInks ? 'cmyk' : colours === 3 ? 'rgb' : 'grey';
  const isInverted = photometric === photometrics.whiteIsZero;
  const { least, most } = rangeOf(all, samples, colours);
  if (format === 'float' && !isInks && !isInverted) {
    const isLight = least >= -0.05 && most <= (colours === 3 ? MOST_LIGHT : 1.05);
    if (isLight) return { model, colours, draw: drawLight(all, samples, colours) };
  }
  // Floats beyond that, and long or signed integers, are measurements: their whole range is shown.
  const isMeasured = format !== 'unsigned' || bits > 16;
  const [from, to] = isMeasured ? [least, most] : [0, 2 ** bits - 1];
  return { model, colours, draw: drawLevels(colours, from, to, isInverted) };
}

const DRAWN = 'drawn.tiff';

/** Returns whether `drawTiff` wrote the file. */
export function isDrawn(path: string): boolean {
  return basename(path) === DRAWN;
}

/** Draws the first picture of a TIFF with our own reader, for samples that libvips draws wrongly or refuses. */
export async function drawTiff(path: string, outDir: string): Promise<NonNullable<Still['picture']>> {
  return withSource(path, async (source) => {
    const tiff = readTiff(source);
    const { width, height, samples, alpha, profile, orientation } = tiff;
    const all = await samplesOf(tiff);
    const { model, colours, draw } = drawingOf(tiff, all);
    const drawnSamples = colours + (alpha ? 1 : 0);
    const drawAlpha = drawLevels(1, 0, tiff.format === 'float' ? 1 : 2 ** tiff.bits - 1, false);
    const sourceColours = samples - (alpha ? 1 : 0);
    const rows = function* () {
      for (let y = 0; y < height; y += 1) {
        const row = new Uint8Array(width * drawnSamples);
        for (let x = 0; x < width; x += 1) {
          const at = (y * width + x) * samples;
          draw(all, at, row, x * drawnSamples);
          if (alpha) drawAlpha(all, at + sourceColours, row, x * drawnSamples + colours);
        }
        yield row;
      }
    };
    const picture = { path: join(outDir, DRAWN), mime: 'image/tiff' };
    // A profile describes the samples of the file, and those of L*a*b* and palettes are converted.
    const isKept =
      tiff.format === 'unsigned' && model !== 'rgb' ? true : tiff.photometric === photometrics.rgb;
    writeTiff(
      picture.path,
      { width, height, model, alpha, orientation, profile: isKept ? profile : null },
      rows(),
    );
    return picture;
  });
}

/** Returns whether the samples of a TIFF are floats, which libvips shows as if they were levels from 0 to 255. */
export function hasFloats(source: Source): boolean {
  try {
    return readTiff(source).format === 'float';
  } catch {
    // libvips says what is wrong with the file.
    return false;
  }
}
