import { open, readFile, writeFile } from 'node:fs/promises';
import type { SubtitleTrack } from '@vitrine/contract/assets';
import { writeVtt } from './cue.ts';
import { readCues, subtitleFormat } from './text-formats.ts';

/** Size limit of text subtitles, which are read into memory; those of a long film have a tenth of this. */
const MOST_TEXT_BYTES = 10 * 1024 * 1024;

export type Conversion =
  /** `to` contains WebVTT. */
  | { outcome: 'text'; format: SubtitleTrack['source_format'] }
  /** Bitmap subtitles, which are not supported. */
  | { outcome: 'pictures'; format: SubtitleTrack['source_format'] }
  | { outcome: 'refused'; reason: string };

/**
 * PGS starts with a segment of a known type; VobSub starts with an MPEG pack or with the line that identifies its
 * index.
 */
function pictureFormat(head: Buffer): 'pgs' | 'vobsub' | null {
  if (head.subarray(0, 2).toString('latin1') === 'PG') {
    return [0x14, 0x15, 0x16, 0x17, 0x80].includes(head[10] ?? 0) ? 'pgs' : null;
  }
  if (head.length >= 4 && head.readUInt32BE(0) === 0x1ba) return 'vobsub';
  return /^(?:\u00ef\u00bb\u00bf)?# VobSub index file/.test(head.toString('latin1')) ? 'vobsub' : null;
}

async function readHead(path: string): Promise<{ head: Buffer; sizeBytes: number }> {
  const file = await open(path, 'r');
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(64), 0, 64, 0);
    return { head: buffer.subarray(0, bytesRead), sizeBytes: (await file.stat()).size };
  } finally {
    await file.close();
  }
}

/**
 * Detects UTF-16 without a byte order mark: half of the bytes of Latin text are zero, all at even or all at odd
 * offsets.
 */
function utf16Without(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const head = bytes.subarray(0, 1000);
  const pairs = Math.floor(head.length / 2);
  if (pairs < 4) return null;
  let even = 0;
  let odd = 0;
  for (const [at, byte] of head.entries()) if (byte === 0) at % 2 === 0 ? even++ : odd++;
  if (odd > pairs / 2 && even === 0) return 'utf-16le';
  return even > pairs / 2 && odd === 0 ? 'utf-16be' : null;
}

/**
 * Decodes a text by its byte order mark, otherwise as UTF-8, otherwise as Windows-1252, in which every byte is a
 * character.
 */
function decodeText(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString('hex');
  const wide = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : utf16Without(bytes);
  if (wide !== null) return new TextDecoder(wide).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Converts a subtitle file to WebVTT and writes it to `to`. Runs in a decoder process. */
export async function convertSubtitles(path: string, to: string): Promise<Conversion> {
  const { head, sizeBytes } = await readHead(path);
  const pictures = pictureFormat(head);
  if (pictures !== null) return { outcome: 'pictures', format: pictures };
  if (sizeBytes > MOST_TEXT_BYTES) {
    return { outcome: 'refused', reason: 'text subtitles may have at most 10 MiB' };
  }
  const text = decodeText(await readFile(path)).replace(/\r\n?/g, '\n');
  const format = subtitleFormat(text);
  if (format === null) {
    return { outcome: 'refused', reason: 'the file is not SRT, WebVTT, ASS, SSA, SBV, PGS or VobSub' };
  }
  const written = writeVtt(readCues(text, format));
  if (written === null) return { outcome: 'refused', reason: `the ${format} file has no readable cue` };
  await writeFile(to, written, { flag: 'wx', mode: 0o640 });
  return { outcome: 'text', format };
}
