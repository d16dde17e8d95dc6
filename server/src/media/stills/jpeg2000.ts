import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sentence } from '../../platform/language/sentence.ts';
import { loadLibrary } from '../faults.ts';
import { checkShape, readAll, withSource } from '../source.ts';
import { BrokenFile, damagedHeader, type StillMaker, unreadablePixels } from '../still.ts';
import { writeTiff } from './tiff-writer.ts';

/** Size limit: the decoder holds the file and four bytes per sample in memory. */
const MOST_BYTES = 256 * 1024 ** 2;
const MOST_SAMPLES = 200_000_000;

/** The part of the decoder that is used; the package has no types. */
interface J2kDecoder {
  getEncodedBuffer(length: number): Uint8Array;
  decode(): void;
  getDecodedBuffer(): Uint8Array;
  getFrameInfo(): {
    width: number;
    height: number;
    bitsPerSample: number;
    componentCount: number;
    isSigned: boolean;
  };
}

/** The markers at the start of a codestream: SOC and SIZ. */
const CODESTREAM = Buffer.from([0xff, 0x4f, 0xff, 0x51]);

/** Checks the size that the codestream declares against the limit, before the decoder allocates it. */
function checkCodestream(file: Buffer): void {
  const at = file.indexOf(CODESTREAM);
  if (at === -1 || at + 42 > file.length) throw damagedHeader('no codestream');
  const long = (offset: number) => file.readUInt32BE(at + 2 + offset);
  const [width, height] = [long(6) - long(14), long(10) - long(18)];
  const components = file.readUInt16BE(at + 40);
  if (components < 1 || components > 4) throw unreadablePixels(`${components} components`);
  checkShape(width, height, MOST_SAMPLES / components);
  // Limits the number of tiles, because each uses memory before the first one is decoded.
  const tiles = Math.ceil(width / (long(22) || 1)) * Math.ceil(height / (long(26) || 1));
  if (tiles > 65_535) throw damagedHeader('too many tiles');
}

/** Returns the ICC profile of a JP2 file, which is in a colour box with method 2. */
function profileOf(file: Buffer): Buffer | null {
  const headerAt = file.indexOf('jp2h', 0, 'latin1');
  if (headerAt < 4) return null;
  const end = Math.min(file.length, headerAt - 4 + file.readUInt32BE(headerAt - 4));
  for (let at = headerAt + 4; at + 12 <= end; ) {
    const size = file.readUInt32BE(at);
    if (size < 8) return null;
    if (file.toString('latin1', at + 4, at + 8) === 'colr' && file[at + 8] === 2) {
      return file.subarray(at + 11, Math.min(end, at + size));
    }
    at += size;
  }
  return null;
}

async function decode(file: Buffer) {
  const { J2KDecoder } = await loadLibrary('OpenJPEG', async () => {
    // The package declares no types for these exports (see J2kDecoder).
    const { default: load } = (await import('@cornerstonejs/codec-openjpeg/decodewasmjs' as string)) as {
      default: (options: object) => Promise<{ J2KDecoder: new () => J2kDecoder }>;
    };
    const wasm = fileURLToPath(import.meta.resolve('@cornerstonejs/codec-openjpeg/decodewasm'));
    // Discards messages of the decoder, because the exception contains the same information.
    return load({ wasmBinary: await readFile(wasm), print() {}, printErr() {} });
  });
  const decoder = new J2KDecoder();
  decoder.getEncodedBuffer(file.length).set(file);
  decoder.decode();
  return { ...decoder.getFrameInfo(), samples: decoder.getDecodedBuffer() };
}

/** Makes a picture of a JP2 file or a bare JPEG 2000 codestream. */
export const jpeg2000: StillMaker = ({ path }, outDir) =>
  withSource(path, async (source) => {
    const file = readAll(source, MOST_BYTES);
    checkCodestream(file);
    const { width, height, bitsPerSample, componentCount, isSigned, samples } = await decode(file);
    checkShape(width, height);
    const bytes = bitsPerSample > 8 ? 2 : 1;
    const rowBytes = width * componentCount * bytes;
    if (samples.length < rowBytes * height) throw new BrokenFile(sentence('it cannot be decoded'));
    const scale = (2 ** (bytes * 8) - 1) / (2 ** bitsPerSample - 1);
    const offset = isSigned ? 2 ** (bitsPerSample - 1) : 0;
    const rows = function* () {
      for (let row = 0; row < height; row += 1) {
        const from = Buffer.from(samples.buffer, samples.byteOffset + row * rowBytes, rowBytes);
        const band = bytes === 2 ? new Uint16Array(rowBytes / 2) : new Uint8Array(rowBytes);
        for (let at = 0; at < band.length; at += 1) {
          const value = bytes === 2 ? from.readUInt16LE(at * 2) : (from[at] ?? 0);
          const signed = isSigned ? (value << (32 - bytes * 8)) >> (32 - bytes * 8) : value;
          band[at] = Math.round((signed + offset) * scale);
        }
        yield new Uint8Array(band.buffer);
      }
    };
    const picture = { path: join(outDir, 'still.tiff'), mime: 'image/tiff' };
    const model = componentCount < 3 ? 'grey' : 'rgb';
    const layout = {
      width,
      height,
      model,
      alpha: componentCount % 2 === 0,
      bits: bytes === 2 ? 16 : 8,
    } as const;
    writeTiff(picture.path, { ...layout, profile: profileOf(file) }, rows());
    return { picture };
  });
