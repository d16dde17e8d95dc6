import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Language } from '@vitrine/contract/languages';
import type { Stroke } from '@vitrine/contract/strokes';
import type { Caller } from '../../../access/caller.ts';
import type { Deps } from '../../../core/deps.ts';
import type { PdfComment } from '../../../media/annotated-pdf/annotate.ts';
import { DecodingStopped } from '../../../media/decoding/process.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { say } from '../../../platform/language/say.ts';
import { originalKey } from '../../../platform/storage/object-key.ts';
import { findBytes } from '../../assets/find-bytes.ts';
import { type ExportedAnnotation, readDrawings, readExported, writerOf } from './read.ts';
import { readOnce } from './sheet.ts';

/** Most annotations in a copy. */
const MOST_IN_COPY = 1000;

/** Returns a text without control characters and those of direction, which would hide a part of it. */
function plain(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '');
}

/** Returns a comment as the copy has it; none unless it is about a page. */
function commentOf(
  language: Language,
  annotation: ExportedAnnotation,
  drawings: ReadonlyMap<string, Stroke[]>,
): PdfComment[] {
  const { id, anchor, body, created_at, resolved_at } = annotation;
  if (anchor.kind !== 'page') return [];
  const { page, x, y, w = 0, h = 0 } = anchor;
  return [
    {
      id,
      page,
      place: x === undefined || y === undefined ? null : { x, y, w, h },
      strokes: drawings.get(id) ?? [],
      author: writerOf(annotation, language),
      text: plain(body),
      createdAt: created_at,
      resolved: resolved_at === null ? null : say(language, 'Resolved'),
    },
  ];
}

/** Returns a copy of a PDF with the annotations that the caller reads; throws 404 or 409 (ANNOTATION-21). */
export async function writeAnnotatedPdf(
  deps: Pick<Deps, 'db' | 'decoders' | 'served' | 'storage'>,
  caller: Caller,
  language: Language,
  id: string,
): Promise<Readable> {
  const { db, storage, decoders } = deps;
  const file = await findBytes(deps, caller, { id, key: null, version: undefined });
  if (file?.file_hash == null) throw notFound();
  if (file.mime !== 'application/pdf') throw refuse('file-not-annotatable');
  const annotations = (await readExported(db, caller, { asset: id }))
    .filter(({ current, anchor }) => current && anchor.kind === 'page')
    .slice(0, MOST_IN_COPY);
  const drawings = await readDrawings(
    db,
    annotations.map((annotation) => annotation.id),
  );
  const comments = annotations.flatMap((annotation) => commentOf(language, annotation, drawings));
  const to = join(storage.incomingDir, `annotated-${randomUUID()}.pdf`);
  const turn = caller.kind === 'user' ? String(caller.ref) : caller.kind;
  try {
    const isWritten = await storage.withLocalFile(originalKey(file.file_hash), (path) =>
      decoders.run('sheet', turn, 'annotatedPdf', { path, comments, to }),
    );
    if (!isWritten) throw refuse('file-not-annotatable');
    return await readOnce(to);
  } catch (error) {
    if (error instanceof DecodingStopped)
      throw refuse('picture-decoding-stopped', { reason: error.sentence });
    throw error;
  } finally {
    await rm(to, { force: true });
  }
}
