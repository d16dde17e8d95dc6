import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Language } from '@vitrine/contract/languages';
import type { Stroke } from '@vitrine/contract/strokes';
import type { Caller } from '../../../access/caller.ts';
import type { Deps } from '../../../core/deps.ts';
import type { SheetPart } from '../../../media/annotation-sheets/write.ts';
import { DecodingStopped } from '../../../media/decoding/process.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { say } from '../../../platform/language/say.ts';
import { findBytes } from '../../assets/find-bytes.ts';
import { type ExportedAnnotation, onOneLine, writerOf } from './read.ts';
import { countingOf, spanOf, timecodeOf } from './timecode.ts';

/** A sheet shows less of a longer text. */
const LONGEST_TEXT = 2000;

/** Returns where an annotation is, in words. */
function placeInWords(language: Language, { anchor, facts }: ExportedAnnotation): string {
  if (anchor.kind === 'page') return say(language, 'page {page}', { page: anchor.page });
  if (anchor.kind !== 'time') return '';
  const counting = countingOf(facts, undefined);
  return timecodeOf(counting.start + spanOf(anchor, counting).frame, counting);
}

/** Returns what is shown under each picture: the annotations of a page of a document, or of another file. */
function groupsOf(annotations: readonly ExportedAnnotation[]): ExportedAnnotation[][] {
  const keyOf = ({ asset_id, anchor }: ExportedAnnotation) =>
    `${asset_id} ${anchor.kind === 'page' ? anchor.page : ''}`;
  return [...Map.groupBy(annotations, keyOf).values()];
}

/** Returns a rendition of the file, which this service made; null if the caller may not get it or there is none. */
async function readRendition(
  deps: Pick<Deps, 'db' | 'served' | 'storage'>,
  caller: Caller,
  { asset_id, anchor }: ExportedAnnotation,
): Promise<Buffer | null> {
  // The still of a film is of another moment.
  if (anchor.kind === 'time') return null;
  const first = anchor.kind === 'page' ? [`page-${anchor.page}`] : [];
  const whole = anchor.kind === 'page' && anchor.page > 1 ? [] : ['screen', 'preview'];
  for (const key of [...first, ...whole]) {
    const row = await findBytes(deps, caller, { id: asset_id, key, version: undefined });
    const object = row?.rendition?.object;
    if (object !== undefined) return deps.storage.withLocalFile(object, (path) => readFile(path));
  }
  return null;
}

/** Appends the picture to the file of pictures, and returns where it is. */
async function appendPicture(pictures: FileHandle, picture: Buffer | null): Promise<SheetPart['picture']> {
  if (picture === null) return null;
  const { size } = await pictures.stat();
  await pictures.appendFile(picture);
  return { offset: size, length: picture.length };
}

/** Isolates a part of a line, so that it does not reorder its neighbours. */
const isolated = (part: string) => `\u2068${part}\u2069`;

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1).trimEnd()}…` : text;
}

/** Returns the parts of a sheet, whose pictures are appended to a file. */
async function partsOf(
  deps: Pick<Deps, 'db' | 'served' | 'storage'>,
  caller: Caller,
  language: Language,
  annotations: readonly ExportedAnnotation[],
  drawings: ReadonlyMap<string, readonly Stroke[]>,
  pictures: FileHandle,
): Promise<SheetPart[]> {
  const parts: SheetPart[] = [];
  let number = 0;
  for (const group of groupsOf(annotations)) {
    const [first] = group;
    if (first === undefined) continue;
    const numbered = group.map((annotation) => {
      number += 1;
      return { annotation, number };
    });
    parts.push({
      title: onOneLine(first.file),
      picture: await appendPicture(pictures, await readRendition(deps, caller, first)),
      // Drawings of earlier versions are about another picture.
      drawn: numbered
        .filter(({ annotation }) => annotation.current)
        .map(({ annotation: { id, anchor }, number }) => ({
          number,
          anchor,
          strokes: drawings.get(id) ?? [],
        })),
      entries: numbered.map(({ annotation, number }) => {
        const { body, resolved_at, current, version } = annotation;
        const facts = [
          writerOf(annotation, language),
          current ? '' : say(language, 'version {version}', { version }),
          placeInWords(language, annotation),
          resolved_at === null ? '' : say(language, 'resolved'),
        ];
        return {
          heading: `${number}  ${facts
            .filter((fact) => fact !== '')
            .map(isolated)
            .join(' · ')}`,
          text: shortened(onOneLine(body)),
        };
      }),
    });
  }
  return parts;
}

/** Returns a file as a stream. The file has no name any more, so that it is gone once it is read. */
export async function readOnce(path: string): Promise<Readable> {
  const made = await open(path);
  await rm(path);
  return made.createReadStream();
}

/**
 * Returns a contact sheet as PDF (ANNOTATION-14). A decoder process writes it, because long texts in large scripts and many
 * drawings need memory and time that requests of others must not miss.
 */
export async function writeSheet(
  deps: Pick<Deps, 'db' | 'decoders' | 'served' | 'storage'>,
  caller: Caller,
  language: Language,
  title: string,
  annotations: readonly ExportedAnnotation[],
  drawings: ReadonlyMap<string, readonly Stroke[]>,
): Promise<Readable> {
  const path = join(deps.storage.incomingDir, `sheet-${randomUUID()}`);
  const to = `${path}.pdf`;
  try {
    const pictures = await open(path, 'ax');
    const parts = await partsOf(deps, caller, language, annotations, drawings, pictures).finally(() =>
      pictures.close(),
    );
    const turn = caller.kind === 'user' ? String(caller.ref) : caller.kind;
    const empty = say(language, 'There are no annotations.');
    const contents = { language, title: onOneLine(title), empty, parts };
    await deps.decoders.run('sheet', turn, 'annotationSheet', { path, contents, to });
    return await readOnce(to);
  } catch (error) {
    if (error instanceof DecodingStopped)
      throw refuse('picture-decoding-stopped', { reason: error.sentence });
    throw error;
  } finally {
    await Promise.all([rm(path, { force: true }), rm(to, { force: true })]);
  }
}
