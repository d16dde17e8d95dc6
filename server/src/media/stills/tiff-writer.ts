import { closeSync, openSync, writeSync } from 'node:fs';

/** The interpretation of the samples of a TIFF. Alpha, if any, comes last and is not premultiplied. */
export interface TiffLayout {
  width: number;
  height: number;
  model: 'grey' | 'rgb' | 'cmyk';
  alpha?: boolean;
  bits?: 8 | 16;
  /** As in EXIF, 1 to 8. */
  orientation?: number;
  /** An ICC profile for the samples; without one they are sRGB or default CMYK. */
  profile?: Buffer | null;
}

const models = {
  grey: { photometric: 1, samples: 1 },
  rgb: { photometric: 2, samples: 3 },
  cmyk: { photometric: 5, samples: 4 },
} as const;

const SHORT = 3;
const LONG = 4;
const UNDEFINED = 7;
const LONG8 = 16;

const sizes = new Map([
  [SHORT, 2],
  [LONG, 4],
  [UNDEFINED, 1],
  [LONG8, 8],
]);

interface Entry {
  tag: number;
  type: number;
  values: readonly number[] | Buffer;
}

function bytesOf({ type, values }: Entry): Buffer {
  if (Buffer.isBuffer(values)) return values;
  const size = sizes.get(type) ?? 1;
  const bytes = Buffer.alloc(values.length * size);
  for (const [index, value] of values.entries()) {
    if (type === LONG8) bytes.writeBigUInt64LE(BigInt(value), index * size);
    else bytes.writeUIntLE(value, index * size, size);
  }
  return bytes;
}

/** Returns the header and the only directory of a BigTIFF, followed by the directory's values. */
function headOf(entries: readonly Entry[]): Buffer {
  const directory = Buffer.alloc(16 + 8 + entries.length * 20 + 8);
  directory.write('II', 'latin1');
  directory.writeUInt16LE(43, 2);
  directory.writeUInt16LE(8, 4);
  directory.writeBigUInt64LE(16n, 8);
  directory.writeBigUInt64LE(BigInt(entries.length), 16);
  const outside: Buffer[] = [];
  let end = directory.length;
  for (const [index, entry] of entries.entries()) {
    const at = 24 + index * 20;
    const bytes = bytesOf(entry);
    directory.writeUInt16LE(entry.tag, at);
    directory.writeUInt16LE(entry.type, at + 2);
    directory.writeBigUInt64LE(BigInt(bytes.length / (sizes.get(entry.type) ?? 1)), at + 4);
    if (bytes.length <= 8) {
      bytes.copy(directory, at + 12);
    } else {
      directory.writeBigUInt64LE(BigInt(end), at + 12);
      outside.push(bytes, Buffer.alloc(-bytes.length & 7));
      end += bytes.length + (-bytes.length & 7);
    }
  }
  return Buffer.concat([directory, ...outside]);
}

/** Approximate number of bytes per strip, which is what libvips holds in memory at a time. */
const STRIP_BYTES = 256 * 1024;

function entriesOf(layout: TiffLayout, dataAt: number): Entry[] {
  const { width, height, model, alpha = false, bits = 8, orientation = 1, profile = null } = layout;
  const { photometric, samples: colours } = models[model];
  const samples = colours + (alpha ? 1 : 0);
  const rowBytes = width * samples * (bits / 8);
  const rows = Math.max(1, Math.min(height, Math.floor(STRIP_BYTES / rowBytes)));
  const strips = Array.from({ length: Math.ceil(height / rows) }, (_, index) => index);
  const lengths = strips.map((strip) => Math.min(rows, height - strip * rows) * rowBytes);
  return [
    { tag: 256, type: LONG, values: [width] },
    { tag: 257, type: LONG, values: [height] },
    { tag: 258, type: SHORT, values: Array.from({ length: samples }, () => bits) },
    { tag: 259, type: SHORT, values: [1] },
    { tag: 262, type: SHORT, values: [photometric] },
    { tag: 273, type: LONG8, values: strips.map((strip) => dataAt + strip * rows * rowBytes) },
    ...(orientation > 1 && orientation <= 8 ? [{ tag: 274, type: SHORT, values: [orientation] }] : []),
    { tag: 277, type: SHORT, values: [samples] },
    { tag: 278, type: LONG, values: [rows] },
    { tag: 279, type: LONG8, values: lengths },
    ...(alpha ? [{ tag: 338, type: SHORT, values: [2] }] : []),
    ...(profile === null ? [] : [{ tag: 34_675, type: UNDEFINED, values: profile }]),
  ];
}

/**
 * Writes an uncompressed TIFF from bands of whole rows, top to bottom. libvips opens it with any colour model, depth
 * and profile, and neither side holds all of it in memory. Throws a RangeError unless the bands add up to the
 * picture.
 */
export function writeTiff(path: string, layout: TiffLayout, bands: Iterable<Uint8Array>): void {
  const { width, height, model, alpha = false, bits = 8 } = layout;
  // The length of the header does not depend on the offsets in it.
  const head = headOf(entriesOf(layout, headOf(entriesOf(layout, 0)).length));
  let left = width * height * (models[model].samples + (alpha ? 1 : 0)) * (bits / 8);
  const fd = openSync(path, 'wx');
  try {
    const write = (bytes: Uint8Array) => {
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    };
    write(head);
    for (const band of bands) {
      left -= band.length;
      if (left < 0) break;
      write(band);
    }
  } finally {
    closeSync(fd);
  }
  if (left !== 0) throw new RangeError(`${left} bytes of the picture are missing`);
}
