import { open } from 'node:fs/promises';

/** What bytes are, in the sense of the seeded asset types. */
export type MediaKind = 'image' | 'document' | 'video' | 'audio' | 'model' | 'font' | 'other';

export interface Sniffed {
  mime: string;
  /** Without a dot; null when the bytes do not tell. */
  extension: string | null;
  kind: MediaKind;
}

/** As much of a file as is ever looked at to tell what it is. */
const HEAD_BYTES = 256 * 1024;

const unknown: Sniffed = { mime: 'application/octet-stream', extension: null, kind: 'other' };

const documents = /pdf|msword|officedocument|opendocument|ms-excel|ms-powerpoint|rtf|epub|x-cfb/;

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
  if (mime === 'application/ogg') return 'audio';
  return documents.test(mime) ? 'document' : 'other';
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
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

function isSvg(text: string): boolean {
  const body = text
    .replace(/^\uFEFF/, '')
    .replace(/^\s*(<\?xml[^>]*\?>|<!--[\s\S]*?-->|<!DOCTYPE[^[>]*(\[[^\]]*\])?>|\s)*/i, '');
  return /^<svg[\s>]/i.test(body);
}

function sniffText(text: string): Sniffed {
  if (isSvg(text)) return { mime: 'image/svg+xml', extension: 'svg', kind: 'image' };
  if (/^\s*\{[\s\S]*"asset"\s*:\s*\{[\s\S]*"version"/.test(text)) {
    return { mime: 'model/gltf+json', extension: 'gltf', kind: 'model' };
  }
  return { mime: 'text/plain', extension: 'txt', kind: 'other' };
}

/** What the bytes of a file are, told by the bytes alone, never by a name. Never fails on what they hold. */
export async function sniff(path: string): Promise<Sniffed> {
  const head = await readHead(path);
  if (head.length === 0) return unknown;
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found !== undefined && found.mime !== 'application/xml') {
    return { mime: found.mime, extension: found.ext, kind: kindOf(found.mime) };
  }
  const text = asText(head);
  return text === null ? unknown : sniffText(text);
}
