import type { FileTypeResult } from 'file-type';
import { soundType } from './audio/frames.ts';
import { isCameraRaw } from './camera-raw.ts';
import { readHead, readTail } from './head.ts';
import { oleDocument } from './office/ole.ts';
import { bitmapHeaders } from './stills/bitmap.ts';
import { isTga } from './stills/tga.ts';
import { encodingOf, markedEncoding } from './text-encoding.ts';
import { textFormat } from './text-formats.ts';

/** The kind of a file, in the sense of the seeded asset types. */
export type MediaKind = 'image' | 'document' | 'video' | 'audio' | 'model' | 'font' | 'other';

export interface Sniffed {
  mime: string;
  /** Without a dot; null if unknown. */
  extension: string | null;
  kind: MediaKind;
}

/** Number of bytes of a text that are inspected. */
const HEAD_BYTES = 256 * 1024;

const documents =
  /pdf|msword|officedocument|opendocument|ms-excel|ms-powerpoint|visio|rtf|epub|mobipocket|x-cfb/;

/** Media types whose top-level type does not determine the kind. */
const kinds = new Map<string, MediaKind>([
  ['application/ogg', 'audio'],
  ['application/mxf', 'video'],
  ['application/vnd.ms-asf', 'video'],
  ['application/vnd.ms-fontobject', 'font'],
  ['application/eps', 'document'],
  ['application/postscript', 'document'],
]);

/** Returns the kind of a media type. */
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

/** Returns whether a text in an encoding that was guessed consists of what texts consist of. */
function isProse(text: string): boolean {
  return !/[\p{Co}\p{Cn}\ufffd\u007f-\u009f]/u.test(text) && /[\p{L}\p{N}]{2}/u.test(text);
}

/**
 * Returns the head as text, or null if it is none in any encoding. Ignores a character that is cut off at the end.
 */
function asText(head: Buffer): string | null {
  try {
    const encoding = encodingOf(head);
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true });
    if (encoding !== 'utf-8' && !isProse(text)) return null;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells bytes from text
    return /[\u0000-\u0008\u000e-\u001a]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Binary STL has no signature, but its length follows from the number of triangles: 84 bytes plus 50 for each. */
function isBinaryStl(head: Buffer, fileSize: number): boolean {
  if (head.length < 134) return false;
  const end = 84 + 50 * head.readUInt32LE(80);
  return fileSize === end || (fileSize > end && end > 84 && head.toString('latin1', 0, 6) === 'solid ');
}

/** Signatures of formats that file-type does not know. */
const signatures: readonly [start: string, mime: string, extension: string][] = [
  ['\x76\x2f\x31\x01', 'image/x-exr', 'exr'],
  ['#?RADIANCE\n', 'image/vnd.radiance', 'hdr'],
  ['#?RGBE\n', 'image/vnd.radiance', 'hdr'],
];

/** `BM` identifies a bitmap only if a header of a known length follows, because texts may start with it too. */
function isBitmap(head: Buffer): boolean {
  return head.length >= 18 && bitmapHeaders.includes(head.readUInt32LE(14));
}

/** Tells AVIF from other HEIF containers by the compatible brands; libvips decodes only AV1. */
function isAvif(head: Buffer): boolean {
  const brands = head.toString('latin1', 16, Math.min(head.length, head.readUInt32BE(0)));
  return /^(?:.{4})*avi[fs]/s.test(brands) && !/^(?:.{4})*hei[cx]/s.test(brands);
}

/** Corrects types that file-type derives from too few bytes. */
function corrected(
  found: FileTypeResult | undefined,
  head: Buffer,
  fileSize: number,
): FileTypeResult | undefined {
  // A Targa picture and a cursor may start with the same bytes.
  if (found?.mime === 'image/x-icon' && isTga(head, fileSize)) return { mime: 'image/x-tga', ext: 'tga' };
  // Any text may start with its first word.
  if (found?.mime === 'model/stl') return undefined;
  if (found?.mime === 'image/bmp') return isBitmap(head) ? found : undefined;
  if (/^image\/hei[cf]/.test(found?.mime ?? '') && isAvif(head)) return { mime: 'image/avif', ext: 'avif' };
  return found;
}

/** A PLY header names one of three encodings, after any comments; the data after it may be text or binary. */
const plyHead =
  /^ply[ \t]*[\r\n]+(?:[ \t]*(?:comment|obj_info)\b[^\r\n]*[\r\n]+)*[ \t]*format[ \t]+(?:ascii|binary_little_endian|binary_big_endian)[ \t]/;

/** More than the comments of any header of a model. */
const HEADER_BYTES = 64 * 1024;

/** 3D models that file-type does not know. */
function model(head: Buffer): Sniffed | null {
  const start = head.toString('latin1', 0, HEADER_BYTES);
  if (start.startsWith('Kaydara FBX Binary')) return sniffed('model/vnd.fbx', 'fbx');
  return plyHead.test(start) ? sniffed('model/ply', 'ply') : null;
}

/** PDF readers accept other bytes before the header within this length. */
const BEFORE_PDF = 1024;
/** Maximum length of the end of a ZIP archive, with its comment. */
const END_BYTES = 22 + 0xffff;

/** Programs of Windows, Linux and macOS. */
const programs: readonly string[] = [
  'application/x-msdownload',
  'application/x-elf',
  'application/x-mach-binary',
];

/** A file to recognise, of which the caller may have read all bytes. */
interface Sniffing {
  path: string;
  bytes: Buffer | null;
}

async function tailOf({ path, bytes }: Sniffing, length: number): Promise<Buffer> {
  return bytes === null ? readTail(path, length) : bytes.subarray(Math.max(0, bytes.length - length));
}

async function signedType({ path, bytes }: Sniffing): Promise<FileTypeResult | undefined> {
  const { fileTypeFromBuffer, fileTypeFromFile } = await import('file-type');
  return bytes === null ? fileTypeFromFile(path) : fileTypeFromBuffer(bytes);
}

/** Returns whether a file ends with the directory of a ZIP archive. */
async function endsWithZip(file: Sniffing, fileSize: number): Promise<boolean> {
  const tail = await tailOf(file, END_BYTES);
  const end = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (end === -1 || end + 22 > tail.length || end + 22 + tail.readUInt16LE(end + 20) !== tail.length)
    return false;
  const directory = tail.readUInt32LE(end + 12);
  return directory > 0 && directory < fileSize;
}

/** Recognises a PDF after the head of a download, and a ZIP archive after a program that unpacks it. */
async function afterOtherBytes(file: Sniffing, head: Buffer, fileSize: number): Promise<Sniffed | null> {
  const isLatePdf = /(?:^|[\r\n])%PDF-\d\.\d/.test(head.toString('latin1', 0, BEFORE_PDF + 8));
  if (isLatePdf && (await tailOf(file, 2048)).includes('%%EOF')) return sniffed('application/pdf', 'pdf');
  return (await endsWithZip(file, fileSize)) ? sniffed('application/zip', 'zip') : null;
}

/**
 * Returns the type of a file from its bytes alone, never from its name. Reads a bounded part of the file. Rejects
 * only on disk errors. `bytes`: all bytes of the file, if the caller has read them.
 */
export async function sniff(path: string, bytes: Buffer | null = null): Promise<Sniffed> {
  const file: Sniffing = { path, bytes };
  const { head, fileSize } =
    bytes === null
      ? await readHead(path, HEAD_BYTES)
      : { head: bytes.subarray(0, HEAD_BYTES), fileSize: bytes.length };
  if (head.length === 0) return sniffed('application/octet-stream', null);
  // The UTF-16 byte order mark also matches MPEG audio, which is not valid text.
  if (markedEncoding(head)?.startsWith('utf-16') === true) {
    const text = asText(head);
    if (text !== null) {
      const { mime, extension } = textFormat(text, head.length === fileSize);
      return sniffed(mime, extension);
    }
  }
  const start = head.toString('latin1', 0, 16);
  const signature = signatures.find(([begins]) => start.startsWith(begins));
  if (signature !== undefined) return sniffed(signature[1], signature[2]);
  const found = corrected(await signedType(file).catch(() => undefined), head, fileSize);
  if (found?.mime === 'image/tiff' && (await isCameraRaw(path))) return sniffed('image/x-dcraw', null);
  if (found?.mime === 'application/x-cfb') {
    const document = await oleDocument(path);
    if (document !== null) return sniffed(document.mime, document.extension);
  }
  // A program that unpacks the archive behind it.
  if (programs.includes(found?.mime ?? '') && (await endsWithZip(file, fileSize)))
    return sniffed('application/zip', 'zip');
  if (found !== undefined && found.mime !== 'application/xml') return sniffed(found.mime, found.ext);
  if (isTga(head, fileSize)) return sniffed('image/x-tga', 'tga');
  const late = await afterOtherBytes(file, head, fileSize);
  if (late !== null) return late;
  const known = model(head);
  if (known !== null) return known;
  const text = asText(head);
  if (text !== null) {
    const { mime, extension } = textFormat(text, head.length === fileSize);
    return sniffed(mime, extension);
  }
  if (isBinaryStl(head, fileSize)) return sniffed('model/stl', 'stl');
  const sound = await soundType(path);
  if (sound !== null) return sniffed(sound, sound === 'audio/aac' ? 'aac' : 'mp3');
  return sniffed('application/octet-stream', null);
}
