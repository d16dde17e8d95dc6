import { writeFile } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import { ExifTool } from 'exiftool-vendored';
import sharp from 'sharp';
import { box, numbers, uint32 } from './binary.ts';

/** One process for all files of a test, started with the first. */
let program: ExifTool | null = null;

function open(): ExifTool {
  program ??= new ExifTool({
    useMWG: false,
    maxProcs: 1,
    exiftoolArgs: ['-config', '', '-stay_open', 'True', '-@', '-'],
  });
  return program;
}

/** Ends the process that `tagFile` uses. */
export async function stopTagging(): Promise<void> {
  await program?.end();
  program = null;
}

/** Writes tags into a file, like a photographer's program. */
export async function tagFile(
  path: string,
  tags: Readonly<Record<string, string | readonly string[]>>,
): Promise<void> {
  const args = Object.entries(tags).flatMap(([tag, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => `-${tag}=${one}`),
  );
  await open().write(
    path,
    {},
    { writeArgs: ['-overwrite_original', '-m', '-n', '-codedcharacterset=utf8', ...args] },
  );
}

/** Small pictures of each type that may contain tags. */
export async function pictureFile(path: string, format: 'jpeg' | 'png' | 'heic'): Promise<void> {
  const picture = sharp({ create: { width: 24, height: 16, channels: 3, background: 'teal' } });
  if (format !== 'heic') return writeFile(path, await picture.toFormat(format).toBuffer());
  // The container of an AVIF with the brand of HEIC; its content is never decoded here.
  const bytes = await picture.avif().toBuffer();
  const end = bytes.readUInt32BE(0);
  const brands = bytes.subarray(0, end).toString('latin1').replaceAll('avif', 'heic');
  await writeFile(path, Buffer.concat([Buffer.from(brands, 'latin1'), bytes.subarray(end)]));
}

/** XMP with these elements in its description. */
export const xmpOf = (inside: string) =>
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">${inside}</rdf:Description></rdf:RDF></x:xmpmeta>`;

const matrix = uint32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

/** A film that claims this many seconds of H.264, with its index after the frames, like those of cameras. */
export function mp4(seconds: number): Buffer {
  // 1 January 2024, 12:00:00 UTC, in seconds since 1904.
  const created = 1_704_110_400 + 2_082_844_800;
  const duration = Math.round(seconds * 1000);
  const mvhd = box(
    'mvhd',
    uint32(0, created, created, 1000, duration, 0x10000),
    Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    Buffer.alloc(2),
    matrix,
    Buffer.alloc(24),
    uint32(2),
  );
  const tkhd = box(
    'tkhd',
    uint32(3, created, created, 1, 0, duration, 0, 0, 0, 0),
    matrix,
    uint32(320 << 16, 240 << 16),
  );
  const mdhd = box('mdhd', uint32(0, created, created, 1000, duration, 0x55c40000));
  const hdlr = box('hdlr', uint32(0, 0), Buffer.from('vide', 'latin1'), Buffer.alloc(13));
  const avc1 = box(
    'avc1',
    Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]),
    Buffer.alloc(16),
    Buffer.from([1, 64, 0, 240]),
    uint32(0x480000, 0x480000, 0, 0x10000),
    Buffer.alloc(30),
    Buffer.from([0, 24, 255, 255]),
  );
  const tables = [
    box('stsd', uint32(0, 1), avc1),
    box('stts', uint32(0, 0)),
    box('stsc', uint32(0, 0)),
    box('stsz', uint32(0, 0, 0)),
    box('stco', uint32(0, 0)),
  ];
  const dinf = box('dinf', box('dref', uint32(0, 1), box('url ', uint32(1))));
  const minf = box('minf', box('vmhd', uint32(1, 0, 0)), dinf, box('stbl', ...tables));
  const moov = box('moov', mvhd, box('trak', tkhd, box('mdia', mdhd, hdlr, minf)));
  return Buffer.concat([
    box('ftyp', Buffer.from('isom\0\0\u0002\0isomavc1mp41', 'latin1')),
    box('mdat', Buffer.alloc(2000)),
    moov,
  ]);
}

/** This many frames of MPEG layer 3 at 128 kbit/s (26 ms each) after an ID3 tag of version 2.3. */
export function mp3(frames: number, tags: Readonly<Record<string, string>>): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0x64]);
  const texts = Object.entries(tags).map(([id, text]) => {
    const body = Buffer.concat([Buffer.from([1, 0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
    return Buffer.concat([Buffer.from(id, 'latin1'), uint32(body.length), Buffer.alloc(2), body]);
  });
  const body = Buffer.concat(texts);
  const { length } = body;
  const size = [21, 14, 7, 0].map((shift) => (length >> shift) & 0x7f);
  const head = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, ...size]);
  return Buffer.concat([head, body, ...Array.from({ length: frames }, () => frame)]);
}

/** A silent FLAC of this many seconds with comments. */
export function flac(seconds: number, comments: readonly string[]): Buffer {
  const rate = 44_100;
  const info = Buffer.alloc(34);
  info.writeUInt16BE(4096, 0);
  info.writeUInt16BE(4096, 2);
  // 20 bits rate, 3 bits channels - 1, 5 bits depth - 1, 36 bits samples.
  const packed = (BigInt(rate) << 44n) | (1n << 41n) | (15n << 36n) | BigInt(rate * seconds);
  info.writeBigUInt64BE(packed, 10);
  const text = (value: string) => Buffer.concat([numbers('i', Buffer.byteLength(value)), Buffer.from(value)]);
  const vorbis = Buffer.concat([text('vitrine'), numbers('i', comments.length), ...comments.map(text)]);
  const block = (type: number, body: Buffer) => {
    const head = uint32(body.length);
    head[0] = type;
    return Buffer.concat([head, body]);
  };
  return Buffer.concat([Buffer.from('fLaC'), block(0, info), block(0x84, vorbis)]);
}

/** A font with only a table of names; OpenType fonts with PostScript outlines begin with `OTTO`. */
export function font(kind: 'ttf' | 'otf', names: Readonly<Record<number, string>>): Buffer {
  const texts = Object.entries(names).map(([id, text]) => ({
    id: Number(id),
    bytes: Buffer.from(text, 'utf16le').swap16(),
  }));
  let at = 0;
  const records = texts.map(({ id, bytes }) => {
    // Windows, Unicode, English (United States).
    const record = numbers('HHHHHH', 3, 1, 0x409, id, bytes.length, at);
    at += bytes.length;
    return record;
  });
  const head = numbers('HHH', 0, texts.length, 6 + 12 * texts.length);
  const name = Buffer.concat([head, ...records, ...texts.map(({ bytes }) => bytes)]);
  const version = Buffer.from(kind === 'otf' ? 'OTTO' : '\0\u0001\0\0', 'latin1');
  const table = Buffer.concat([Buffer.from('name'), uint32(0, 28, name.length)]);
  return Buffer.concat([version, numbers('HHHH', 1, 0, 0, 0), table, name]);
}

/** A font as WOFF, which compresses each table. */
export function woff(names: Readonly<Record<number, string>>): Buffer {
  const plain = font('ttf', names);
  const table = plain.subarray(28);
  const deflated = deflateSync(table);
  // Tables that do not get smaller are stored uncompressed.
  const packed = deflated.length < table.length ? deflated : table;
  const head = Buffer.alloc(44 + 20);
  head.write('wOFF', 0, 'latin1');
  numbers('IIHHI', 0x10000, head.length + packed.length, 1, 0, plain.length).copy(head, 4);
  head.write('name', 44, 'latin1');
  uint32(head.length, packed.length, table.length).copy(head, 48);
  return Buffer.concat([head, packed]);
}
