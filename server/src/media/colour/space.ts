import { hlgLight, pqLight, screenLight } from './high-range.ts';

/** Three rows that convert linear light to linear light under other primaries. */
type Matrix = readonly [Triple, Triple, Triple];
type Triple = readonly [number, number, number];

/** Chromaticities (x, y) of the white point and of red, green and blue. */
export interface Primaries {
  white: readonly [number, number];
  red: readonly [number, number];
  green: readonly [number, number];
  blue: readonly [number, number];
}

/** How the samples of a picture are converted to linear light, 1 for the white of a screen, under the primaries of sRGB. */
export interface ColourSpace {
  /** Converts a sample from 0 to 1 to light. */
  curve(sample: number): number;
  matrix: Matrix;
  /** High dynamic range; `matrix` then converts to the primaries of BT.2020, in which highlights are compressed. */
  range: 'pq' | 'hlg' | null;
}

const D65 = [0.3127, 0.329] as const;
const C = [0.31, 0.316] as const;

const bt709: Primaries = { white: D65, red: [0.64, 0.33], green: [0.3, 0.6], blue: [0.15, 0.06] };
const bt2020: Primaries = { white: D65, red: [0.708, 0.292], green: [0.17, 0.797], blue: [0.131, 0.046] };
const smpte170: Primaries = { white: D65, red: [0.63, 0.34], green: [0.31, 0.595], blue: [0.155, 0.07] };
const p3 = { red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06] } as const;

/** Primaries by their code points (ISO/IEC 23091-2, 8.1). */
const primariesOf: ReadonlyMap<number, Primaries> = new Map<number, Primaries>([
  [1, bt709],
  [4, { white: C, red: [0.67, 0.33], green: [0.21, 0.71], blue: [0.14, 0.08] }],
  [5, { white: D65, red: [0.64, 0.33], green: [0.29, 0.6], blue: [0.15, 0.06] }],
  [6, smpte170],
  [7, smpte170],
  [8, { white: C, red: [0.681, 0.319], green: [0.243, 0.692], blue: [0.145, 0.049] }],
  [9, bt2020],
  [10, { white: [1 / 3, 1 / 3], red: [1, 0], green: [0, 1], blue: [0, 0] }],
  [11, { ...p3, white: [0.314, 0.351] }],
  [12, { ...p3, white: D65 }],
  [22, { white: D65, red: [0.63, 0.34], green: [0.295, 0.605], blue: [0.155, 0.077] }],
]);

/** Returns a curve with a straight line up to `knee`: ((sample + offset) / (1 + offset)) ^ exponent above it. */
function kneed(knee: number, slope: number, offset: number, exponent: number) {
  return (sample: number) =>
    sample <= knee ? sample / slope : ((sample + offset) / (1 + offset)) ** exponent;
}

const srgb = kneed(0.04045, 12.92, 0.055, 2.4);
/** BT.1886, the reference display of BT.709 and BT.601. */
const broadcast = (sample: number) => sample ** 2.4;
const power = (exponent: number) => (sample: number) => sample ** exponent;

/** Curves by the code points of transfer characteristics (ISO/IEC 23091-2, 8.2). */
const curves: ReadonlyMap<number, ColourSpace['curve']> = new Map([
  [1, broadcast],
  [4, power(2.2)],
  [5, power(2.8)],
  [6, broadcast],
  [7, kneed(0.0913, 4, 0.1115, 1 / 0.45)],
  [8, power(1)],
  [11, broadcast],
  [13, srgb],
  [14, broadcast],
  [15, broadcast],
  [16, pqLight],
  // Its white has 48 candelas per square metre, its peak 52.37.
  [17, (sample: number) => (52.37 / 48) * sample ** 2.6],
  [18, hlgLight],
]);

/** Curves of cameras for video. Browsers show stills that name them as sRGB, as televisions do. */
const broadcastCurves: readonly number[] = [1, 6, 14, 15];

const UNSPECIFIED = 2;
const PQ = 16;
const HLG = 18;

function multiply(a: Matrix, b: Matrix): Matrix {
  const cell = (row: Triple, column: 0 | 1 | 2) =>
    row[0] * b[0][column] + row[1] * b[1][column] + row[2] * b[2][column];
  const line = (row: Triple): Triple => [cell(row, 0), cell(row, 1), cell(row, 2)];
  return [line(a[0]), line(a[1]), line(a[2])];
}

function apply([a, b, c]: Matrix, [x, y, z]: Triple): Triple {
  const dot = (row: Triple) => row[0] * x + row[1] * y + row[2] * z;
  return [dot(a), dot(b), dot(c)];
}

function invert([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix {
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  const over = (value: number) => value / determinant;
  return [
    [over(e * i - f * h), over(c * h - b * i), over(b * f - c * e)],
    [over(f * g - d * i), over(a * i - c * g), over(c * d - a * f)],
    [over(d * h - e * g), over(b * g - a * h), over(a * e - b * d)],
  ];
}

const scaled = ([x, y, z]: Triple): Matrix => [
  [x, 0, 0],
  [0, y, 0],
  [0, 0, z],
];
const tristimulus = ([x, y]: readonly [number, number]): Triple => [x, y, 1 - x - y];
const whiteOf = ({ white: [x, y] }: Primaries): Triple => [x / y, 1, (1 - x - y) / y];

function toXyz(primaries: Primaries): Matrix {
  const [red, green, blue] = [primaries.red, primaries.green, primaries.blue].map(tristimulus) as [
    Triple,
    Triple,
    Triple,
  ];
  const columns: Matrix = [
    [red[0], green[0], blue[0]],
    [red[1], green[1], blue[1]],
    [red[2], green[2], blue[2]],
  ];
  return multiply(columns, scaled(apply(invert(columns), whiteOf(primaries))));
}

const bradford: Matrix = [
  [0.8951, 0.2664, -0.1614],
  [-0.7502, 1.7135, 0.0367],
  [0.0389, -0.0685, 1.0296],
];

/** Returns the matrix from linear light under these primaries to that under others, adapted to their white (Bradford). */
function between(from: Primaries, to: Primaries): Matrix {
  const [before, after] = [from, to].map((primaries) => apply(bradford, whiteOf(primaries))) as [
    Triple,
    Triple,
  ];
  const gain = scaled([after[0] / before[0], after[1] / before[1], after[2] / before[2]]);
  const adapted = multiply(invert(bradford), multiply(gain, bradford));
  return multiply(invert(toXyz(to)), multiply(adapted, toXyz(from)));
}

/** The matrix from BT.2020 to sRGB. */
const bt2020ToSrgb: Matrix = between(bt2020, bt709);

/**
 * Returns the colour space of code points (ISO/IEC 23091-2), or null if it is sRGB, unspecified or unknown, which
 * browsers show alike. `asVideo` uses the curves of BT.709 and its like as they are written, as browsers do for PNG.
 */
export function spaceOfCodePoints(
  { primaries, transfer }: { primaries: number; transfer: number },
  { asVideo = false }: { asVideo?: boolean } = {},
): ColourSpace | null {
  const from = primariesOf.get(primaries === UNSPECIFIED && !asVideo ? 1 : primaries);
  const isScreen = !asVideo && (transfer === UNSPECIFIED || broadcastCurves.includes(transfer));
  const curve = isScreen ? srgb : curves.get(transfer);
  if (from === undefined || curve === undefined || (from === bt709 && curve === srgb)) return null;
  const range = transfer === PQ ? 'pq' : transfer === HLG ? 'hlg' : null;
  return { curve, matrix: between(from, range === null ? bt709 : bt2020), range };
}

/**
 * Returns the colour space of an exponent, with primaries or those of sRGB; null if it is sRGB, or if the primaries
 * span no triangle.
 */
export function spaceOfGamma(exponent: number, primaries: Primaries | null): ColourSpace | null {
  if (!(exponent > 0.1 && exponent < 10)) return null;
  const matrix = between(primaries ?? bt709, bt709);
  if (!matrix.flat().every(Number.isFinite)) return null;
  const isUsual = Math.abs(exponent - 2.2) < 0.01;
  if (isUsual && (primaries === null || isClose(primaries, bt709))) return null;
  return { curve: power(exponent), matrix, range: null };
}

/** Returns the colour space of a curve, with primaries or those of sRGB; null if the primaries span no triangle. */
export function spaceOfCurve(curve: ColourSpace['curve'], primaries: Primaries | null): ColourSpace | null {
  const matrix = between(primaries ?? bt709, bt709);
  return matrix.flat().every(Number.isFinite) ? { curve, matrix, range: null } : null;
}

/** Adobe RGB (1998), whose exponent is 563/256. */
export const adobeRgb: ColourSpace = {
  curve: power(563 / 256),
  matrix: between({ ...bt709, green: [0.21, 0.71] }, bt709),
  range: null,
};

/** Returns whether two sets of primaries differ by no more than the rounding of the numbers in files. */
function isClose(a: Primaries, b: Primaries): boolean {
  const numbers = ({ white, red, green, blue }: Primaries) => [...white, ...red, ...green, ...blue];
  const others = numbers(b);
  return numbers(a).every((number, index) => Math.abs(number - (others[index] ?? 0)) < 0.001);
}

/** Converts rows of RGB or RGBA samples of 8 or 16 bits to sRGB with 8 bits. */
export type RowConverter = (from: Uint8Array | Uint8ClampedArray | Uint16Array, samples: 3 | 4) => Uint8Array;

/** The resolution of the curve of sRGB. */
const STEPS = 65_535;

const levels = Uint8Array.from({ length: STEPS + 1 }, (_, step) => {
  const light = step / STEPS;
  return Math.round(255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055));
});

/** Returns the converter for samples up to `most` (255 or 65,535). Colours that sRGB lacks are clipped, as in browsers. */
export function rowConverter({ curve, matrix, range }: ColourSpace, most: number): RowConverter {
  const light = Float64Array.from({ length: most + 1 }, (_, level) => curve(level / most));
  const [[rr, rg, rb], [gr, gg, gb], [br, bg, bb]] = matrix;
  const levelOf = (value: number) => levels[value > 0 ? Math.min(STEPS, Math.round(value * STEPS)) : 0] ?? 0;
  const [toRed, toGreen, toBlue] = bt2020ToSrgb;
  const scale = 255 / most;
  return (from, samples) => {
    const to = new Uint8Array(from.length);
    for (let at = 0; at + samples <= from.length; at += samples) {
      const red = light[from[at] ?? 0] ?? 0;
      const green = light[from[at + 1] ?? 0] ?? 0;
      const blue = light[from[at + 2] ?? 0] ?? 0;
      let r = rr * red + rg * green + rb * blue;
      let g = gr * red + gg * green + gb * blue;
      let b = br * red + bg * green + bb * blue;
      if (range !== null) {
        const gain = screenLight(r, g, b, range);
        [r, g, b] = [
          gain * (toRed[0] * r + toRed[1] * g + toRed[2] * b),
          gain * (toGreen[0] * r + toGreen[1] * g + toGreen[2] * b),
          gain * (toBlue[0] * r + toBlue[1] * g + toBlue[2] * b),
        ];
      }
      to[at] = levelOf(r);
      to[at + 1] = levelOf(g);
      to[at + 2] = levelOf(b);
      if (samples === 4) to[at + 3] = Math.round((from[at + 3] ?? 0) * scale);
    }
    return to;
  };
}
