import sharp from 'sharp';

/** The model name of the reference encoder. Its number changes whenever the vectors change. */
export const model = { model: 'vitrine-reference', version: '1', dimensions: 239 } as const;

const EDGE = 64;
const FREQUENCIES = 12;
const CELLS = 4;
const BINS = 4;
const COLOUR_CELLS = 4;

/** The weight of each part of the vector. */
const WEIGHTS = { layout: 1, edges: 0.8, colour: 0.35 } as const;

/** A picture on a square of `EDGE` pixels: lightness and the two colour differences, each from -1 to 1. */
interface Planes {
  light: Float64Array;
  blue: Float64Array;
  red: Float64Array;
}

async function planesOf(bytes: Buffer): Promise<Planes> {
  const { data } = await sharp(bytes, { failOn: 'error' })
    .autoOrient()
    .flatten({ background: '#808080' })
    .resize(EDGE, EDGE, { fit: 'fill' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const channels = data.length / (EDGE * EDGE);
  const light = new Float64Array(EDGE * EDGE);
  const blue = new Float64Array(EDGE * EDGE);
  const red = new Float64Array(EDGE * EDGE);
  for (let at = 0; at < EDGE * EDGE; at += 1) {
    const r = (data[at * channels] ?? 0) / 255;
    const g = (data[at * channels + (channels > 2 ? 1 : 0)] ?? 0) / 255;
    const b = (data[at * channels + (channels > 2 ? 2 : 0)] ?? 0) / 255;
    light[at] = 0.299 * r + 0.587 * g + 0.114 * b;
    blue[at] = 0.564 * (b - (light[at] ?? 0));
    red[at] = 0.713 * (r - (light[at] ?? 0));
  }
  return { light, blue, red };
}

function unit(values: readonly number[], weight: number): number[] {
  const length = Math.hypot(...values);
  return length < 1e-9 ? values.map(() => 0) : values.map((value) => (value / length) * weight);
}

const cosines = Float64Array.from({ length: FREQUENCIES * EDGE }, (_, at) => {
  const frequency = Math.floor(at / EDGE);
  return Math.cos((Math.PI * (2 * (at % EDGE) + 1) * frequency) / (2 * EDGE));
});

/**
 * The low frequencies of the lightness without its mean, so that brightness has no effect. Pictures contain less of
 * the higher frequencies; each is multiplied by its frequency to give all of them influence.
 */
function layoutOf(light: Float64Array): number[] {
  const rows = new Float64Array(EDGE * FREQUENCIES);
  for (let y = 0; y < EDGE; y += 1) {
    for (let u = 0; u < FREQUENCIES; u += 1) {
      let sum = 0;
      for (let x = 0; x < EDGE; x += 1) sum += (light[y * EDGE + x] ?? 0) * (cosines[u * EDGE + x] ?? 0);
      rows[y * FREQUENCIES + u] = sum;
    }
  }
  const found: number[] = [];
  for (let v = 0; v < FREQUENCIES; v += 1) {
    for (let u = 0; u < FREQUENCIES; u += 1) {
      if (u === 0 && v === 0) continue;
      let sum = 0;
      for (let y = 0; y < EDGE; y += 1)
        sum += (rows[y * FREQUENCIES + u] ?? 0) * (cosines[v * EDGE + y] ?? 0);
      found.push(sum * Math.hypot(u, v));
    }
  }
  return found;
}

/** The directions of edges: the square roots of the strengths of four directions in each of sixteen cells. */
function edgesOf(light: Float64Array): number[] {
  const found = new Array<number>(CELLS * CELLS * BINS).fill(0);
  for (let y = 1; y < EDGE - 1; y += 1) {
    for (let x = 1; x < EDGE - 1; x += 1) {
      const at = y * EDGE + x;
      const across = (light[at + 1] ?? 0) - (light[at - 1] ?? 0);
      const down = (light[at + EDGE] ?? 0) - (light[at - EDGE] ?? 0);
      const turn = (Math.atan2(down, across) + Math.PI) % Math.PI;
      const bin = Math.min(BINS - 1, Math.floor((turn / Math.PI) * BINS));
      const cell = Math.floor((y * CELLS) / EDGE) * CELLS + Math.floor((x * CELLS) / EDGE);
      const place = cell * BINS + bin;
      found[place] = (found[place] ?? 0) + Math.hypot(across, down);
    }
  }
  const roots = found.map(Math.sqrt);
  const mean = roots.reduce((sum, value) => sum + value, 0) / roots.length;
  return roots.map((value) => value - mean);
}

/** The mean colour of sixteen cells; close to zero for pictures with little colour. */
function colourOf({ blue, red }: Planes): number[] {
  const found = new Array<number>(COLOUR_CELLS * COLOUR_CELLS * 2).fill(0);
  const each = (EDGE * EDGE) / (COLOUR_CELLS * COLOUR_CELLS);
  for (let y = 0; y < EDGE; y += 1) {
    for (let x = 0; x < EDGE; x += 1) {
      const cell =
        Math.floor((y * COLOUR_CELLS) / EDGE) * COLOUR_CELLS + Math.floor((x * COLOUR_CELLS) / EDGE);
      found[cell * 2] = (found[cell * 2] ?? 0) + (blue[y * EDGE + x] ?? 0) / each;
      found[cell * 2 + 1] = (found[cell * 2 + 1] ?? 0) + (red[y * EDGE + x] ?? 0) / each;
    }
  }
  return found;
}

/**
 * Returns the vector of a picture, with length one. Vectors are close for the same picture resized, recompressed,
 * brightened, marked or slightly cropped; they do not represent what a picture shows. Rejects when the bytes are not
 * a picture.
 */
export async function describe(bytes: Buffer): Promise<number[]> {
  const planes = await planesOf(bytes);
  const colour = colourOf(planes);
  const vivid = Math.min(1, Math.hypot(...colour) / 0.3);
  const whole = [
    ...unit(layoutOf(planes.light), WEIGHTS.layout),
    ...unit(edgesOf(planes.light), WEIGHTS.edges),
    ...unit(colour, WEIGHTS.colour * vivid),
  ];
  return unit(whole, 1).map((value) => Math.round(value * 1e6) / 1e6);
}
