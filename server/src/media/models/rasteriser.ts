import type { Shape } from '../ladder.ts';
import type { Surface, Texture } from './surface.ts';

/** Camera position: slightly above and to the right of the front, with an orthographic projection. */
const YAW = (-32 * Math.PI) / 180;
const PITCH = (24 * Math.PI) / 180;
/** The fraction of the picture that the model fills. */
const FILLED = 0.84;
/** Directions of the two lights in camera space, and their intensities. */
const [keyX, keyY, keyZ] = normalised([-0.45, 0.7, 0.6]);
const KEY = 0.75;
const [fillX, fillY, fillZ] = normalised([0.8, 0.1, 0.5]);
const FILL = 0.22;
const AMBIENT = 0.2;

function normalised([x, y, z]: readonly [number, number, number]): [number, number, number] {
  const length = Math.hypot(x, y, z) || 1;
  return [x / length, y / length, z / length];
}

const fromSrgb = Float32Array.from({ length: 256 }, (_, value) => {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
});
const STEPS = 4095;
const toSrgb = Uint8Array.from({ length: STEPS + 1 }, (_, step) => {
  const part = step / STEPS;
  return Math.round(255 * (part <= 0.0031308 ? part * 12.92 : 1.055 * part ** (1 / 2.4) - 0.055));
});

function encoded(light: number): number {
  return toSrgb[Math.round(Math.min(1, Math.max(0, light)) * STEPS)] ?? 0;
}

/** Transforms coordinates or directions to camera space: x to the right, y up, z towards the camera. */
function rotated(values: Float32Array): Float32Array {
  const [sinYaw, cosYaw, sinPitch, cosPitch] = [
    Math.sin(YAW),
    Math.cos(YAW),
    Math.sin(PITCH),
    Math.cos(PITCH),
  ];
  const result = new Float32Array(values.length);
  for (let at = 0; at + 2 < values.length; at += 3) {
    const [x = 0, y = 0, z = 0] = [values[at], values[at + 1], values[at + 2]];
    const side = x * cosYaw + z * sinYaw;
    const depth = z * cosYaw - x * sinYaw;
    result[at] = side;
    result[at + 1] = y * cosPitch - depth * sinPitch;
    result[at + 2] = y * sinPitch + depth * cosPitch;
  }
  return result;
}

interface Bounds {
  low: [number, number];
  high: [number, number];
}

/** Returns the bounding rectangle in camera space; null if there is no finite corner. */
function boundsOf(seen: readonly Float32Array[]): Bounds | null {
  const low: [number, number] = [Infinity, Infinity];
  const high: [number, number] = [-Infinity, -Infinity];
  for (const positions of seen) {
    for (let at = 0; at + 2 < positions.length; at += 3) {
      const [x = NaN, y = NaN] = [positions[at], positions[at + 1]];
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      low[0] = Math.min(low[0], x);
      low[1] = Math.min(low[1], y);
      high[0] = Math.max(high[0], x);
      high[1] = Math.max(high[1], y);
    }
  }
  return low[0] <= high[0] ? { low, high } : null;
}

/** Returns the index of the first byte of the texel at these coordinates, which wrap around. */
function texelAt({ width, height }: Texture, u: number, v: number): number {
  const column = Math.floor((u - Math.floor(u)) * width);
  const row = Math.floor((v - Math.floor(v)) * height);
  return (Math.min(row, height - 1) * width + Math.min(column, width - 1)) * 4;
}

/**
 * Returns the light on a surface with this normal; surfaces are two-sided. Returns NaN for a normal without a
 * direction.
 */
function lightOn(x: number, y: number, z: number): number {
  // Math.hypot takes several times as long, and this runs for each pixel.
  const length = Math.sqrt(x * x + y * y + z * z);
  if (!(length > 0)) return Number.NaN;
  const scale = (z < 0 ? -1 : 1) / length;
  const key = KEY * Math.max(0, (x * keyX + y * keyY + z * keyZ) * scale);
  return AMBIENT + key + FILL * Math.max(0, (x * fillX + y * fillY + z * fillZ) * scale);
}

/** A picture that is drawn as RGBA, one byte per channel, with the depth of what is nearest at each pixel. */
interface Canvas extends Shape {
  depths: Float32Array;
  pixels: Uint8Array;
}

/** Where a surface is in the picture: positions and normals in camera space, and how to get from there to pixels. */
interface Placed {
  surface: Surface;
  positions: Float32Array;
  normals: Float32Array | null;
  scale: number;
  left: number;
  top: number;
}

const valueAt = (list: Float32Array | null, at: number) => list?.[at] ?? 0;

/** Returns the mean of three values, at these places, by the weights of the corners. */
const mixed = (list: Float32Array, a: number, b: number, c: number, wa: number, wb: number, wc: number) =>
  wa * valueAt(list, a) + wb * valueAt(list, b) + wc * valueAt(list, c);

function put({ depths, pixels }: Canvas, at: number, z: number, red: number, green: number, blue: number) {
  depths[at] = z;
  pixels[at * 4] = red;
  pixels[at * 4 + 1] = green;
  pixels[at * 4 + 2] = blue;
  pixels[at * 4 + 3] = 255;
}

/** Draws each corner of a surface as a square. */
function drawPoints(canvas: Canvas, { surface, positions, scale, left, top }: Placed): void {
  const { width, height, depths } = canvas;
  const { base, colours } = surface;
  const radius = Math.max(1, Math.round(width / 800));
  for (let corner = 0; corner * 3 + 2 < positions.length; corner += 1) {
    const x = Math.round(left + valueAt(positions, corner * 3) * scale);
    const y = Math.round(top - valueAt(positions, corner * 3 + 1) * scale);
    const z = valueAt(positions, corner * 3 + 2);
    const tint = (part: 0 | 1 | 2) =>
      encoded(base[part] * (colours === null ? 1 : valueAt(colours, corner * 3 + part)));
    for (let row = Math.max(0, y - radius); row <= Math.min(height - 1, y + radius); row += 1) {
      for (let column = Math.max(0, x - radius); column <= Math.min(width - 1, x + radius); column += 1) {
        const at = row * width + column;
        if (z > (depths[at] ?? 0)) put(canvas, at, z, tint(0), tint(1), tint(2));
      }
    }
  }
}

/**
 * Draws the triangle of three corners of a surface. It is a function of its own because V8 does not optimise the loops of a
 * longer one, and would allocate the numbers of each pixel.
 */
function drawTriangle(canvas: Canvas, placed: Placed, a: number, b: number, c: number): void {
  const { width, height, depths } = canvas;
  const { surface, positions, normals, scale, left, top } = placed;
  const { colours, uvs, base, texture } = surface;
  const ax = left + valueAt(positions, a * 3) * scale;
  const ay = top - valueAt(positions, a * 3 + 1) * scale;
  const bx = left + valueAt(positions, b * 3) * scale;
  const by = top - valueAt(positions, b * 3 + 1) * scale;
  const cx = left + valueAt(positions, c * 3) * scale;
  const cy = top - valueAt(positions, c * 3 + 1) * scale;
  const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
  // Skips faces without an area or with an undefined corner.
  if (!(Math.abs(area) > 1e-9) || !Number.isFinite(area)) return;
  const az = valueAt(positions, a * 3 + 2);
  const bz = valueAt(positions, b * 3 + 2);
  const cz = valueAt(positions, c * 3 + 2);
  const lit = lightOn(
    (by - ay) * (cz - az) * -scale + (bz - az) * (cy - ay) * scale,
    (bz - az) * (cx - ax) * scale - (bx - ax) * (cz - az) * scale,
    -area,
  );
  const flat = Number.isNaN(lit) ? AMBIENT : lit;
  const lowX = Math.max(0, Math.floor(Math.min(ax, bx, cx)));
  const highX = Math.min(width - 1, Math.ceil(Math.max(ax, bx, cx)));
  const lowY = Math.max(0, Math.floor(Math.min(ay, by, cy)));
  const highY = Math.min(height - 1, Math.ceil(Math.max(ay, by, cy)));
  // The same for every pixel of the face, unless something is interpolated.
  const isPlain = texture === null && colours === null && normals === null;
  const plainRed = encoded(base[0] * flat);
  const plainGreen = encoded(base[1] * flat);
  const plainBlue = encoded(base[2] * flat);
  for (let row = lowY; row <= highY; row += 1) {
    const y = row + 0.5;
    for (let column = lowX; column <= highX; column += 1) {
      const x = column + 0.5;
      const wb = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / area;
      const wc = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / area;
      const wa = 1 - wb - wc;
      if (wa < 0 || wb < 0 || wc < 0) continue;
      const z = wa * az + wb * bz + wc * cz;
      const at = row * width + column;
      if (!(z > (depths[at] ?? 0))) continue;
      if (isPlain) {
        put(canvas, at, z, plainRed, plainGreen, plainBlue);
        continue;
      }
      let red = base[0];
      let green = base[1];
      let blue = base[2];
      if (texture !== null && uvs !== null) {
        const u = mixed(uvs, a * 2, b * 2, c * 2, wa, wb, wc);
        const v = mixed(uvs, a * 2 + 1, b * 2 + 1, c * 2 + 1, wa, wb, wc);
        const texel = texelAt(texture, u, v);
        // Applies alpha cut-outs, which are common for leaves and fences.
        if ((texture.pixels[texel + 3] ?? 255) < 128) continue;
        red *= fromSrgb[texture.pixels[texel] ?? 0] ?? 0;
        green *= fromSrgb[texture.pixels[texel + 1] ?? 0] ?? 0;
        blue *= fromSrgb[texture.pixels[texel + 2] ?? 0] ?? 0;
      }
      if (colours !== null) {
        red *= mixed(colours, a * 3, b * 3, c * 3, wa, wb, wc);
        green *= mixed(colours, a * 3 + 1, b * 3 + 1, c * 3 + 1, wa, wb, wc);
        blue *= mixed(colours, a * 3 + 2, b * 3 + 2, c * 3 + 2, wa, wb, wc);
      }
      let light = flat;
      if (normals !== null) {
        const nx = mixed(normals, a * 3, b * 3, c * 3, wa, wb, wc);
        const ny = mixed(normals, a * 3 + 1, b * 3 + 1, c * 3 + 1, wa, wb, wc);
        const nz = mixed(normals, a * 3 + 2, b * 3 + 2, c * 3 + 2, wa, wb, wc);
        const smooth = lightOn(nx, ny, nz);
        // Some exporters leave the normals empty.
        if (!Number.isNaN(smooth)) light = smooth;
      }
      put(canvas, at, z, encoded(red * light), encoded(green * light), encoded(blue * light));
    }
  }
}

/**
 * Draws surfaces on a transparent background as RGBA, one byte per channel. Returns null if there is nothing to see.
 */
export function drawSurfaces(surfaces: readonly Surface[], { width, height }: Shape): Uint8Array | null {
  const seen = surfaces.map(({ positions }) => rotated(positions));
  const bounds = boundsOf(seen);
  if (bounds === null) return null;
  const { low, high } = bounds;
  const [across, up] = [high[0] - low[0], high[1] - low[1]];
  const scale =
    FILLED *
    Math.min(
      width / (across || 1e-9),
      height / (up || 1e-9),
      Math.max(width, height) / (Math.max(across, up) || 1),
    );
  const [left, top] = [
    width / 2 - ((low[0] + high[0]) / 2) * scale,
    height / 2 + ((low[1] + high[1]) / 2) * scale,
  ];
  const depths = new Float32Array(width * height).fill(-Infinity);
  const pixels = new Uint8Array(width * height * 4);
  const canvas: Canvas = { width, height, depths, pixels };
  for (const [index, surface] of surfaces.entries()) {
    const { triangles } = surface;
    const positions = seen[index] ?? new Float32Array();
    const normals = surface.normals === null ? null : rotated(surface.normals);
    const placed = { surface, positions, normals, scale, left, top };
    if (triangles === null) drawPoints(canvas, placed);
    else
      for (let first = 0; first + 2 < triangles.length; first += 3)
        drawTriangle(
          canvas,
          placed,
          triangles[first] ?? 0,
          triangles[first + 1] ?? 0,
          triangles[first + 2] ?? 0,
        );
  }
  return depths.some((depth) => depth > -Infinity) ? pixels : null;
}
