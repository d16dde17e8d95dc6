import { open, readFile, writeFile } from 'node:fs/promises';
import type { SubtitleTrack } from '@vitrine/contract/assets';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { decodeText } from '../text-encoding.ts';
import { writeVtt } from './cue.ts';
import { readCues, subtitleFormat } from './text-formats.ts';

/** Size limit of text subtitles, which are read into memory; those of a long film have a tenth of this. */
const MOST_TEXT_BYTES = 10 * 1024 * 1024;

export type Conversion =
  /** `to` contains WebVTT. */
  | { outcome: 'text'; format: SubtitleTrack['source_format'] }
  /** Bitmap subtitles, which are not supported. */
  | { outcome: 'pictures'; format: SubtitleTrack['source_format'] }
  | { outcome: 'refused'; reason: Sentence };

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

/** Converts a subtitle file to WebVTT and writes it to `to`. Runs in a decoder process. */
export async function convertSubtitles(path: string, to: string): Promise<Conversion> {
  const { head, sizeBytes } = await readHead(path);
  const pictures = pictureFormat(head);
  if (pictures !== null) return { outcome: 'pictures', format: pictures };
  if (sizeBytes > MOST_TEXT_BYTES) {
    return { outcome: 'refused', reason: sentence('text subtitles may have at most 10 MiB') };
  }
  const text = decodeText(await readFile(path)).replace(/\r\n?/g, '\n');
  const format = subtitleFormat(text);
  if (format === null) {
    const reason = sentence('the file is not SRT, WebVTT, ASS, SSA, SBV, PGS or VobSub');
    return { outcome: 'refused', reason };
  }
  const written = writeVtt(readCues(text, format));
  if (written === null)
    return { outcome: 'refused', reason: sentence('the {format} file has no readable cue', { format }) };
  await writeFile(to, written, { flag: 'wx', mode: 0o640 });
  return { outcome: 'text', format };
}
