import { deflateSync, inflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { gif, jpeg, png, tiff, webp } from '../support/pictures.ts';
import { fileOf } from './binary.ts';
import { clip } from './clips.ts';
import { type Chunk, chunksOf, pngOf, withChunks } from './png-chunks.ts';
import { colourAt, expectColour, extraOf, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();

const picture = { jpeg: await jpeg(96, 64), png: await png(96, 64), tiff: await tiff(96, 64) };
const moving = { webp: await webp(96, 64), gif: await gif(96, 64) };

/** Returns a copy with other bytes at a position. */
function changed(bytes: Uint8Array, at: number, ...values: number[]): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy.set(values, at);
  return copy;
}

/** Returns the position of a JPEG's marker. */
const markerAt = (bytes: Uint8Array, marker: number) =>
  Buffer.from(bytes).indexOf(Buffer.from([0xff, marker]));

/** Returns the PNG with its compressed pixels replaced. */
function repacked(change: (packed: Buffer) => Uint8Array): Uint8Array {
  const chunks = chunksOf(picture.png);
  const packed = Buffer.concat(chunks.filter(([name]) => name === 'IDAT').map(([, data]) => data));
  const header = chunks[0] ?? (['IHDR', new Uint8Array()] as const);
  return pngOf([header, ['IDAT', change(packed)], ['IEND', new Uint8Array()]]);
}

/** Returns the TIFF with an entry of its directory changed; `at` counts from the start of the entry. */
function withEntry(tag: number, change: (directory: Buffer, at: number) => void): Uint8Array {
  const bytes = Buffer.from(picture.tiff);
  const directory = bytes.readUInt32LE(4);
  for (let entry = 0; entry < bytes.readUInt16LE(directory); entry += 1) {
    const at = directory + 2 + entry * 12;
    if (bytes.readUInt16LE(at) === tag) change(bytes, at);
  }
  return Uint8Array.from(bytes);
}

const wrong = (name: string): Chunk[] => chunksOf(picture.png).map(([of, data]) => [of, data, of === name]);
const note: Chunk = ['tEXt', fileOf('Comment\0hi'), true];

// MEDIA-33
describe('an intact picture is drawn although decoders remark', () => {
  const [scan, frame] = [markerAt(picture.jpeg, 0xda), markerAt(picture.jpeg, 0xc0)];
  const unknownJfif = fileOf('\xff\xe0\0\x10JFIF\0', Uint8Array.of(3, 9, 0, 0, 1, 0, 1, 0, 0));
  test.each<[string, Uint8Array]>([
    ['wrong parameters of its scan', changed(picture.jpeg, scan + 11, 1, 62, 0)],
    ['bytes before a marker', fileOf(picture.jpeg.slice(0, frame), '\0\0\0\0', picture.jpeg.slice(frame))],
    ['an unknown revision of JFIF', fileOf('\xff\xd8', unknownJfif, picture.jpeg.slice(2))],
    ['a missing end marker', picture.jpeg.slice(0, -2)],
    ['half an end marker', picture.jpeg.slice(0, -1)],
    ['bytes after its end', fileOf(picture.jpeg, 'and so on')],
    [
      'an unknown transform of Adobe',
      fileOf('\xff\xd8\xff\xee\0\x0eAdobe\0d\0\0\0\0\x07', picture.jpeg.slice(2)),
    ],
  ])('a JPEG: %s', async (_, bytes) => {
    expectColour(await colourAt(pictureOf(await studio.render(bytes)).path, 0.25), [221, 12, 12], 25);
    expectColour(await colourAt(pictureOf(await studio.render(bytes)).path, 0.9, 0.95), [12, 12, 221], 25);
  });

  test.each<[string, Uint8Array]>([
    ['a wrong checksum of a text', withChunks(picture.png, note)],
    ['a wrong checksum of its pixels', pngOf(wrong('IDAT'))],
    ['a wrong checksum of its end', pngOf(wrong('IEND'))],
    ['a missing end', pngOf(chunksOf(picture.png).slice(0, -1))],
    ['a gamma of zero', withChunks(picture.png, ['gAMA', new Uint8Array(4)])],
    [
      'a time that does not exist',
      withChunks(picture.png, ['tIME', Uint8Array.of(7, 232, 13, 40, 30, 70, 80)]),
    ],
    [
      'a profile that is none',
      withChunks(picture.png, ['iCCP', fileOf('x\0\0', deflateSync(Buffer.from('none')))]),
    ],
    ['a wrong checksum of its stream', repacked((packed) => changed(packed, packed.length - 1, 0))],
    ['a stream without its checksum', repacked((packed) => packed.subarray(0, -4))],
    [
      'a window that is too small',
      repacked((packed) => changed(deflateSync(inflateSync(packed), { windowBits: 15 }), 0, 0x08, 0x1d)),
    ],
  ])('a PNG: %s', async (_, bytes) => {
    expectColour(await colourAt(pictureOf(await studio.render(bytes)).path, 0.9, 0.95), [12, 12, 221], 25);
  });

  test.each<[string, Uint8Array]>([
    ['an orientation that does not exist', withEntry(274, (bytes, at) => bytes.writeUInt16LE(99, at + 8))],
    ['an unknown tag', withEntry(274, (bytes, at) => bytes.writeUInt16LE(60_000, at))],
    ['a resolution of another type', withEntry(282, (bytes, at) => bytes.writeUInt16LE(3, at + 2))],
    ['bytes after its end', fileOf(picture.tiff, 'and so on')],
  ])('a TIFF: %s', async (_, bytes) => {
    expectColour(await colourAt(pictureOf(await studio.render(bytes)).path, 0.9, 0.95), [12, 12, 221], 25);
  });

  test.each<[string, Uint8Array]>([
    ['a GIF: a missing end', moving.gif.slice(0, -1)],
    ['a GIF: a missing end of its last block', moving.gif.slice(0, -2)],
    ['a WebP: a length that is too small', changed(moving.webp, 4, (moving.webp[4] ?? 0) - 2)],
    ['a WebP: bytes after its end', fileOf(moving.webp, 'and so on')],
    ['a WebP: metadata that end too early', fileOf(moving.webp, 'EXIF\x40\0\0\0MM')],
  ])('%s', async (_, bytes) => {
    expectColour(await colourAt(pictureOf(await studio.render(bytes)).path, 0.9, 0.95), [12, 12, 221], 25);
  });

  test('the cover of a sound', async () => {
    const sound = await clip({ format: 'mp3', audio: { encoder: 'libmp3lame' }, seconds: 1 });
    const body = fileOf('\0image/jpeg\0\x03\0', picture.jpeg.slice(0, -2));
    const frame = Buffer.alloc(10);
    frame.write('APIC', 'latin1');
    frame.writeUInt32BE(body.length, 4);
    const size = frame.length + body.length;
    const tag = [3, 2, 1, 0].map((place) => (size >> (7 * place)) & 127);
    const tagged = fileOf('ID3\x03\0\0', Uint8Array.from(tag), frame, body, sound);
    const made = await studio.decode(tagged);
    expect(pictureOf(made)).toMatchObject({ width: 96, height: 64 });
    expect(await extraOf(made, 'waveform.json')).not.toBeNull();
  });

  test('also in its tiles', async () => {
    const { path, outDir } = await studio.place(picture.jpeg.slice(0, -2));
    const { makeTiles } = await import('../../src/media/tiles/make.ts');
    expect(await makeTiles({ path, mime: 'image/jpeg' }, outDir)).toMatchObject({ width: 96, height: 64 });
  });
});

// MEDIA-6, MEDIA-33
test.each<[string, () => Promise<Uint8Array>]>([
  ['a JPEG', async () => picture.jpeg],
  ['a progressive JPEG', async () => sharp(picture.png).jpeg({ progressive: true }).toBuffer()],
  ['a PNG', async () => picture.png],
  ['a WebP', async () => moving.webp],
  ['a GIF', async () => moving.gif],
])('%s without some of its pixels is damaged', async (_, make) => {
  const whole = await make();
  for (const share of [0.5, 0.9])
    expect(await studio.outcomeOf(whole.slice(0, Math.floor(whole.length * share)))).toMatch(/^broken: /);
});
