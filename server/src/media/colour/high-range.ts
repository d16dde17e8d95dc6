/** High dynamic range (ITU-R BT.2100), as browsers show it on ordinary screens. Light is relative to diffuse white. */

/** Diffuse white in candelas per square metre (ITU-R BT.2408). */
const WHITE = 203;
/** The peak of a display for HLG, and the brightest light that is distinguished, in candelas per square metre. */
const PEAK = 1000;

/** Converts a sample of the perceptual quantizer (PQ) to light. */
export function pqLight(sample: number): number {
  const power = sample ** (1 / 78.84375);
  const light = Math.max(0, power - 0.8359375) / (18.8515625 - 18.6875 * power);
  return (10_000 / WHITE) * light ** (1 / 0.1593017578125);
}

/** Converts a sample of hybrid log-gamma (HLG) to the light of the scene, from 0 to 1. */
export function hlgLight(sample: number): number {
  if (sample <= 0.5) return sample ** 2 / 3;
  return (Math.exp((sample - 0.55991073) / 0.17883277) + 0.28466892) / 12;
}

/** The exponent of the system of HLG for that peak, less one. */
const HLG_SYSTEM = 0.2;

/** Control point of the curve that compresses highlights. */
const MIDDLE = { x: 1.65, y: 0.825 };
/** Where it starts: diffuse white has half the light of the screen, because highlights need the other half. */
const KNEE = 0.5;
const BRIGHTEST = PEAK / WHITE;

/** Returns the light of the screen, from 0 to 1, for light of the picture: a line, and a Bézier curve above white. */
function compressed(light: number): number {
  if (light <= 1) return light * KNEE;
  if (light >= BRIGHTEST) return 1;
  const a = 1 - 2 * MIDDLE.x + BRIGHTEST;
  const b = 2 * (MIDDLE.x - 1);
  const t = (Math.sqrt(b * b - 4 * a * (1 - light)) - b) / (2 * a);
  return (1 - t) ** 2 * KNEE + 2 * t * (1 - t) * MIDDLE.y + t * t;
}

/**
 * Returns the factor from the light of a picture, under the primaries of BT.2020, to that of a screen. It depends on the
 * brightest channel, so that colours keep their hue.
 */
export function screenLight(red: number, green: number, blue: number, range: 'pq' | 'hlg'): number {
  let system = 1;
  if (range === 'hlg') {
    const luminance = 0.2627 * red + 0.678 * green + 0.0593 * blue;
    system = luminance > 0 ? BRIGHTEST * luminance ** HLG_SYSTEM : 0;
  }
  const brightest = Math.max(red, green, blue) * system;
  return brightest > 0 ? (system * compressed(brightest)) / brightest : 0;
}
