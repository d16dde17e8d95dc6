/** Small files that claim or unpack to large amounts of data. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { type Bytes, fileOf, numbers } from './binary.ts';
import { pdfOf } from './documents.ts';
import { zip } from './packages.ts';

const MIB = 1024 ** 2;

/** A GIF with this many frames of one pixel: 100,000 take 2 MB. */
export function manyFrames(count: number): Bytes {
  const head = Buffer.from('01000100800000000000ffffff', 'hex');
  // Each frame lasts 10 ms; the last line is the pixel.
  const frame = Buffer.from(['21f9040001000000', '2c000000000100010000', '0202440100'].join(''), 'hex');
  return fileOf('GIF89a', head, ...Array.from({ length: count }, () => frame), ';');
}

/** One pixel wide and 30,000 high. */
export async function thread(): Promise<Bytes> {
  const background = { r: 200, g: 30, b: 30 };
  return fileOf(
    await sharp({ create: { width: 1, height: 30_000, channels: 3, background } })
      .png()
      .toBuffer(),
  );
}

/** Spaces, compressed this many times. */
function packedBlanks(megabytes: number, times: number): Buffer {
  let packed: Buffer = Buffer.alloc(megabytes * MIB, ' ');
  for (let left = times; left > 0; left -= 1) packed = deflateSync(packed, { level: 9 });
  return packed;
}

/** A page whose contents unpack in two steps to this many megabytes of spaces: 500 MB take 1.4 kB. */
export function unpackingPdf(megabytes: number): Bytes {
  const content = packedBlanks(megabytes, 2).toString('latin1');
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R >>',
    `<< /Length ${content.length} /Filter [/FlateDecode /FlateDecode] >>\nstream\n${content}\nendstream`,
  ]);
}

/** A page with a picture of this many pixels along each edge, of which this many megabytes exist. */
export function paintingPdf(edge: number, megabytes: number): Bytes {
  const image = deflateSync(Buffer.alloc(megabytes * MIB), { level: 9 }).toString('latin1');
  const draw = 'q 100 0 0 100 0 0 cm /I Do Q';
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>',
    `<< /Length ${draw.length} >>\nstream\n${draw}\nendstream`,
    `<< /Type /XObject /Subtype /Image /Width ${edge} /Height ${edge} /BitsPerComponent 8 /ColorSpace /DeviceRGB /Length ${image.length} /Filter /FlateDecode >>\nstream\n${image}\nendstream`,
  ]);
}

/** A document of this many parts whose words unpack to 30 MB each. */
export function unpackingDocx(parts: number): Bytes {
  const part = Buffer.alloc(30 * MIB, '<w:p><w:r><w:t>a</w:t></w:r></w:p>');
  const slides = Array.from({ length: parts }, (_, at) => [`ppt/slides/slide${at + 1}.xml`, part] as const);
  return zip({
    '[Content_Types].xml':
      '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    'word/document.xml': part,
    ...Object.fromEntries(slides),
  });
}

/** Ten archives in ten archives in ten archives; the innermost hold 5 MB each: 5 GB in a few kB. */
export function nestedZip(): Bytes {
  let inner: Uint8Array = zip({ first: '', zeros: Buffer.alloc(5 * MIB) });
  for (let depth = 0; depth < 3; depth += 1) {
    const packed = inner;
    inner = zip({
      first: '',
      ...Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`${at}.zip`, packed])),
    });
  }
  return fileOf(inner);
}

/** Concatenated members of a compressed file count as one file: a gigabyte of zeros in one megabyte. */
function gzipped(first: Uint8Array, gigabytes: number): Bytes {
  const member = gzipSync(Buffer.alloc(64 * MIB), { level: 9 });
  return fileOf(gzipSync(first), ...Array.from({ length: gigabytes * 16 }, () => member));
}

/** A drawing as SVGZ, followed by six gigabytes. */
export function unpackingSvgz(): Bytes {
  return gzipped(
    new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'),
    6,
  );
}

/** A tar archive with one file of 8 GB, of which this many gigabytes exist. */
export function unpackingTar(gigabytes: number): Bytes {
  const header = Buffer.alloc(512);
  header.write('zeros.bin', 0);
  header.write(
    '0000644\0' + '0000000\0' + '0000000\0' + '77777777777\0' + '00000000000\0' + '        0',
    100,
  );
  header.write('ustar\0' + '00', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return gzipped(header, gigabytes);
}

/** An icon font whose character map claims all of Unicode `groups` times. */
export async function boundlessFont(groups: number): Promise<Bytes> {
  const path = join(
    import.meta.dirname,
    '../../../node_modules/playwright-core/lib/vite/traceViewer/codicon.DCmgc-ay.ttf',
  );
  const font = await readFile(path);
  const head = numbers('HHHHIHHIII', 0, 1, 3, 10, 12, 12, 0, 16 + groups * 12, 0, groups);
  // As many as a call accepts arguments.
  const group = numbers('III', 0x20, 0x20 + 100_000, 1);
  const cmap = Buffer.concat([head, ...Array.from({ length: groups }, () => group)]);
  const tables = font.readUInt16BE(4);
  for (let entry = 12; entry < 12 + tables * 16; entry += 16) {
    const tag = font.toString('latin1', entry, entry + 4);
    if (tag === 'maxp') font.writeUInt16BE(0xffff, font.readUInt32BE(entry + 8) + 4);
    if (tag !== 'cmap') continue;
    font.writeUInt32BE(font.length, entry + 8);
    font.writeUInt32BE(cmap.length, entry + 12);
  }
  return fileOf(font, cmap);
}

/** A model of one triangle list that claims this many vertices, none of which are in the file. */
export function boundlessGltf(count: number): Bytes {
  return new TextEncoder().encode(
    JSON.stringify({
      asset: { version: '2.0' },
      scene: 0,
      scenes: [{ nodes: [0] }],
      nodes: [{ mesh: 0 }],
      meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
      accessors: [{ componentType: 5126, type: 'VEC3', count, min: [0, 0, 0], max: [0, 0, 0] }],
    }),
  );
}
