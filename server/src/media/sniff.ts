import type { FileTypeResult } from 'file-type';
import { isCameraRaw } from './camera-raw.ts';
import { readHead } from './head.ts';
import { oleDocument } from './office/ole.ts';
import { bitmapHeaders } from './stills/bitmap.ts';
import { encodingOf } from './text-encoding.ts';
import { textFormat } from './text-formats.ts';

/** What bytes are, in the sense of the seeded asset types. */
export type MediaKind = 'image' | 'document' | 'video' | 'audio' | 'model' | 'font' | 'other';

export interface Sniffed {
  mime: string;
  /** Without a dot; null when the bytes do not tell. */
  extension: string | null;
  kind: MediaKind;
}

/** As much of a text as is looked at to tell what it is. */
const HEAD_BYTES = 256 * 1024;

const documents =
  /pdf|msword|officedocument|opendocument|ms-excel|ms-powerpoint|visio|rtf|epub|mobipocket|x-cfb/;

/** Media types whose family does not say what they are. */
const kinds = new Map<string, MediaKind>([
  ['application/ogg', 'audio'],
  ['application/mxf', 'video'],
  ['application/vnd.ms-asf', 'video'],
  ['application/vnd.ms-fontobject', 'font'],
  ['application/eps', 'document'],
  ['application/postscript', 'document'],
]);

/** The kind of a media type. */
export function kindOf(mime: string): MediaKind {
  const family = mime.split('/')[0];
  if (
    family === 'image' ||
    family === 'video' ||
    family === 'audio' ||
    family === 'model' ||
    family === 'font'
  ) {
    return family;
  }
  return kinds.get(mime) ?? (documents.test(mime) ? 'document' : 'other');
}

function sniffed(mime: string, extension: string | null): Sniffed {
  return { mime, extension, kind: kindOf(mime) };
}

/** The head as text, or null when it is neither UTF-8 nor UTF-16 with its mark; a character cut off at the end does not count. */
function asText(head: Buffer): string | null {
  try {
    const text = new TextDecoder(encodingOf(head), { fatal: true }).decode(head, { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells bytes from text
    return /[\u0000-\u0008\u000e-\u001a]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Binary STL has no signature, but its length follows from the number of triangles: 50 bytes each after 84. */
function isBinaryStl(head: Buffer, fileSize: number): boolean {
  return head.length >= 134 && fileSize === 84 + 50 * head.readUInt32LE(80);
}

/** Formats that the library does not know, by how their files begin. */
const signatures: readonly [start: string, mime: string, extension: string][] = [
  ['\x76\x2f\x31\x01', 'image/x-exr', 'exr'],
  ['#?RADIANCE\n', 'image/vnd.radiance', 'hdr'],
  ['#?RGBE\n', 'image/vnd.radiance', 'hdr'],
];

/** `BM` begins a bitmap only if a header of a known length follows: texts begin with these letters, too. */
function isBitmap(head: Buffer): boolean {
  return head.length >= 18 && bitmapHeaders.includes(head.readUInt32LE(14));
}

/** HEIF is a container. Whether it holds AV1, which libvips decodes, is told by the brands that the file conforms to. */
function isAvif(head: Buffer): boolean {
  const brands = head.toString('latin1', 16, Math.min(head.length, head.readUInt32BE(0)));
  return /^(?:.{4})*avi[fs]/s.test(brands) && !/^(?:.{4})*hei[cx]/s.test(brands);
}

/** Corrects what the library tells from too few bytes. */
function corrected(found: FileTypeResult | undefined, head: Buffer): FileTypeResult | undefined {
  if (found?.mime === 'image/bmp') return isBitmap(head) ? found : undefined;
  if (/^image\/hei[cf]/.test(found?.mime ?? '') && isAvif(head)) return { mime: 'image/avif', ext: 'avif' };
  return found;
}

/** PLY says so and in which of three forms; what follows may be text or numbers. */
const plyHead = /^ply\r?\n(?:comment[^\n]*\n)*format (?:ascii|binary_little_endian|binary_big_endian) /;

/** 3D models that file-type does not know. */
function model(head: Buffer): Sniffed | null {
  const start = head.toString('latin1', 0, 1000);
  if (start.startsWith('Kaydara FBX Binary')) return sniffed('model/vnd.fbx', 'fbx');
  return plyHead.test(start) ? sniffed('model/ply', 'ply') : null;
}

/**
 * What the bytes of a file are, told by the bytes alone, never by a name. Reads little of the file, whatever it holds,
 * and rejects only for faults of the disk.
 */
export async function sniff(path: string): Promise<Sniffed> {
  const { head, fileSize } = await readHead(path, HEAD_BYTES);
  if (head.length === 0) return sniffed('application/octet-stream', null);
  // Its mark also begins MPEG audio, which is no valid text.
  if (encodingOf(head) !== 'utf-8' && asText(head) !== null) return sniffed('text/plain', 'txt');
  const start = head.toString('latin1', 0, 16);
  const signature = signatures.find(([begins]) => start.startsWith(begins));
  if (signature !== undefined) return sniffed(signature[1], signature[2]);
  const { fileTypeFromFile } = await import('file-type');
  const found = corrected(await fileTypeFromFile(path).catch(() => undefined), head);
  if (found?.mime === 'image/tiff' && (await isCameraRaw(path))) return sniffed('image/x-dcraw', null);
  if (found?.mime === 'application/x-cfb') {
    const document = await oleDocument(path);
    if (document !== null) return sniffed(document.mime, document.extension);
  }
  if (found !== undefined && found.mime !== 'application/xml') return sniffed(found.mime, found.ext);
  const known = model(head);
  if (known !== null) return known;
  const text = asText(head);
  if (text !== null) {
    const { mime, extension } = textFormat(text, head.length === fileSize);
    return sniffed(mime, extension);
  }
  if (isBinaryStl(head, fileSize)) return sniffed('model/stl', 'stl');
  return sniffed('application/octet-stream', null);
}
