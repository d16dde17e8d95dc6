import { isCameraRaw } from './camera-raw.ts';
import { readHead } from './head.ts';
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

/** The head as text, or null when it is not UTF-8 text; a character cut off at the end does not count. */
function asText(head: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
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

/**
 * What the bytes of a file are, told by the bytes alone, never by a name. Reads little of the file, whatever it holds,
 * and rejects only for faults of the disk.
 */
export async function sniff(path: string): Promise<Sniffed> {
  const { head, fileSize } = await readHead(path, HEAD_BYTES);
  if (head.length === 0) return sniffed('application/octet-stream', null);
  const { fileTypeFromFile } = await import('file-type');
  const found = await fileTypeFromFile(path).catch(() => undefined);
  if (found?.mime === 'image/tiff' && (await isCameraRaw(path))) return sniffed('image/x-dcraw', null);
  if (found !== undefined && found.mime !== 'application/xml') return sniffed(found.mime, found.ext);
  const text = asText(head);
  if (text !== null) {
    const { mime, extension } = textFormat(text, head.length === fileSize);
    return sniffed(mime, extension);
  }
  if (isBinaryStl(head, fileSize)) return sniffed('model/stl', 'stl');
  return sniffed('application/octet-stream', null);
}
