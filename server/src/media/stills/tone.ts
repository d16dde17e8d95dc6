/** Light of a scene as the numbers of a screen. */

/** Linear light up to here is shown as it is; what is brighter approaches white without reaching it. */
const KNEE = 0.8;

/** The steps of linear light that the table of the sRGB curve tells apart. */
const STEPS = 4096;

const curve = Uint8Array.from({ length: STEPS + 1 }, (_, step) => {
  // Squared steps are fine where the curve is steep.
  const light = (step / STEPS) ** 2;
  return Math.round(255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055));
});

/** Linear light as 8 bits of sRGB; NaN is black. */
export function srgb(light: number): number {
  if (!(light > 0)) return 0;
  return curve[Math.min(STEPS, Math.round(Math.sqrt(light) * STEPS))] ?? 255;
}

/** How much of light this bright is shown. */
function shoulder(light: number): number {
  if (!(light > KNEE)) return light;
  const above = light - KNEE;
  const room = 1 - KNEE;
  return light === Number.POSITIVE_INFINITY ? 1 : KNEE + (room * above) / (above + room);
}

/** How a scene is shown. */
export interface Tone {
  /** The factor that exposes it. */
  exposure: number;
  /** Whether anything in it is brighter than the white of a screen, and highlights have to be compressed. */
  compressed: boolean;
}

/**
 * Writes one pixel of linear light to `to` as sRGB. The brightest channel is compressed and the others follow, so that
 * highlights keep their hue.
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

/** Average brightness of scenes that are shown as they are: renderings made for a screen lie between. */
const DARKEST = 0.002;
const BRIGHTEST = 2;
/** Where the average of a scene is put that is darker or brighter, such as a measurement in units of its own: middle grey. */
const MIDDLE = 0.18;

/** As many pixels as tell how bright a scene is. */
const SAMPLES = 100_000;

/** How to show a scene of so many pixels, of which `light` reads one as red, green and blue. */
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

/** White of D50, under which Lab is measured. */
const WHITE = [0.9642, 1, 0.8249] as const;

/** Linear sRGB of a colour under D50 (Bradford). */
const fromD50 = [
  [3.1338561, -1.6168667, -0.4906146],
  [-0.9787684, 1.9161415, 0.033454],
  [0.0719453, -0.2289914, 1.4052427],
] as const;

function fromCube(value: number): number {
  return value > 6 / 29 ? value ** 3 : 3 * (6 / 29) ** 2 * (value - 4 / 29);
}

/** Writes a colour of CIE L*a*b* (D50) to `to` as sRGB, with `most` as the highest level. */
export function labToSrgb(lightness: number, a: number, b: number, most: number, to: number[]): void {
  const y = (lightness + 16) / 116;
  const [x, z] = [y + a / 500, y - b / 200];
  const tristimulus = [WHITE[0] * fromCube(x), WHITE[1] * fromCube(y), WHITE[2] * fromCube(z)] as const;
  for (const [channel, row] of fromD50.entries()) {
    const light = row[0] * tristimulus[0] + row[1] * tristimulus[1] + row[2] * tristimulus[2];
    to[channel] = Math.round((srgb(light) / 255) * most);
  }
}
