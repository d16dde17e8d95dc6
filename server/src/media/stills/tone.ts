/** Converts linear scene light to screen values. */

/** Linear light up to this value is shown unchanged; brighter light approaches white asymptotically. */
const KNEE = 0.8;

/** Resolution of the lookup table of the sRGB curve. */
const STEPS = 16_384;

const curve = Uint8Array.from({ length: STEPS + 1 }, (_, step) => {
  // Squared steps give a finer resolution where the curve is steep.
  const light = (step / STEPS) ** 2;
  return Math.round(255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055));
});

/** Converts linear light to 8-bit sRGB; NaN becomes black. */
export function srgb(light: number): number {
  if (!(light > 0)) return 0;
  return curve[Math.min(STEPS, Math.round(Math.sqrt(light) * STEPS))] ?? 255;
}

/** Returns the displayed value of light of this brightness. */
function shoulder(light: number): number {
  if (!(light > KNEE)) return light;
  const above = light - KNEE;
  const room = 1 - KNEE;
  return light === Number.POSITIVE_INFINITY ? 1 : KNEE + (room * above) / (above + room);
}

/** The exposure of a scene. */
export interface Tone {
  /** The exposure factor. */
  exposure: number;
  /** Whether any pixel exceeds the white of a screen, so that highlights must be compressed. */
  compressed: boolean;
}

/**
 * Writes one pixel of linear light to `to` as sRGB. Compresses the brightest channel and scales the others with it,
 * so that highlights keep their hue.
 */
export function toneMap(
  { exposure, compressed }: Tone,
  [red, green, blue]: readonly [number, number, number],
  to: Uint8Array,
  at: number,
): void {
  const brightest = Math.min(Math.max(red, green, blue) * exposure, Number.MAX_VALUE);
  const scale = exposure * (compressed && brightest > KNEE ? shoulder(brightest) / brightest : 1);
  to[at] = srgb(Math.min(red, Number.MAX_VALUE) * scale);
  to[at + 1] = srgb(Math.min(green, Number.MAX_VALUE) * scale);
  to[at + 2] = srgb(Math.min(blue, Number.MAX_VALUE) * scale);
}

/** Range of the average brightness of scenes that are shown unchanged; renderings made for a screen are in it. */
const DARKEST = 0.002;
const BRIGHTEST = 2;
/** Target for the average of darker or brighter scenes, such as measurements in physical units: middle grey. */
const MIDDLE = 0.18;

/** Number of pixels sampled to estimate the brightness of a scene. */
const SAMPLES = 100_000;

/** Returns the exposure of a scene with this number of pixels; `light` returns one pixel as red, green and blue. */
export function toneOf(pixels: number, light: (pixel: number) => readonly [number, number, number]): Tone {
  let sum = 0;
  let count = 0;
  let peak = 0;
  const step = Math.max(1, Math.floor(pixels / SAMPLES));
  for (let pixel = 0; pixel < pixels; pixel += step) {
    const [red, green, blue] = light(pixel);
    peak = Math.max(peak, red || 0, green || 0, blue || 0);
    const brightness = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    if (!(brightness > 1e-6 && brightness < 1e9)) continue;
    sum += Math.log(brightness);
    count += 1;
  }
  const mean = count === 0 ? MIDDLE : Math.exp(sum / count);
  const exposure = mean >= DARKEST && mean <= BRIGHTEST ? 1 : MIDDLE / mean;
  return { exposure, compressed: peak * exposure > 1 };
}

/** The D50 white point, which Lab refers to. */
const WHITE = [0.9642, 1, 0.8249] as const;

/** Conversion from XYZ under D50 to linear sRGB (Bradford). */
const fromD50 = [
  [3.1338561, -1.6168667, -0.4906146],
  [-0.9787684, 1.9161415, 0.033454],
  [0.0719453, -0.2289914, 1.4052427],
] as const;

function fromCube(value: number): number {
  return value > 6 / 29 ? value ** 3 : 3 * (6 / 29) ** 2 * (value - 4 / 29);
}

/** Writes a CIE L*a*b* colour (D50) to `to` as sRGB, with `most` as the maximum level. */
export function labToSrgb(lightness: number, a: number, b: number, most: number, to: number[]): void {
  const y = (lightness + 16) / 116;
  const [x, z] = [y + a / 500, y - b / 200];
  const tristimulus = [WHITE[0] * fromCube(x), WHITE[1] * fromCube(y), WHITE[2] * fromCube(z)] as const;
  for (const [channel, row] of fromD50.entries()) {
    const light = row[0] * tristimulus[0] + row[1] * tristimulus[1] + row[2] * tristimulus[2];
    to[channel] = Math.round((srgb(light) / 255) * most);
  }
}
