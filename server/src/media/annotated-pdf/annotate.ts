import { appendFile, copyFile, readFile, stat } from 'node:fs/promises';
import type { PDFDocument, PDFOperator, PDFRef } from '@cantoo/pdf-lib';
import { usualColor } from '@vitrine/contract/stroke-shapes';
import type { Stroke } from '@vitrine/contract/strokes';
import {
  drawNote,
  drawRegion,
  drawStroke,
  type Extent,
  extentOf,
  extentOfNote,
  extentOfRegion,
  LINE,
  type Place,
  partsOf,
} from './look.ts';
import { type PageSpace, placed, rectOf, spaceOf } from './page-space.ts';

type PdfLib = typeof import('@cantoo/pdf-lib');

/** A larger document is held in memory more than once, and would stop the process. */
const MOST_BYTES = 200 * 1024 ** 2;

/** A comment about a place of a document. */
export interface PdfComment {
  id: string;
  /** Counts from 1. */
  page: number;
  /** Null if it is about the whole page. */
  place: Place | null;
  strokes: readonly Stroke[];
  author: string;
  text: string;
  createdAt: string;
  /** What the reply says that resolves it; null while it is open. */
  resolved: string | null;
}

/** The kind of an annotation, with what is drawn of it and its own entries. */
interface Form {
  subtype: 'Text' | 'Square' | 'Ink' | 'Stamp';
  extent: Extent;
  operators: PDFOperator[];
  color: string;
  entries: Record<string, unknown>;
}

function formOf(lib: PdfLib, { place, strokes }: PdfComment, space: PageSpace): Form {
  const [first] = strokes;
  if (first !== undefined) {
    const lines = strokes
      .filter(({ tool }) => tool !== 'text')
      .map(({ points }) =>
        points.flatMap(([x = 0, y = 0]) => placed(space.matrix, x * space.width, y * space.height)),
      );
    return {
      // Ink has lines; letters alone are a stamp.
      subtype: lines.length > 0 ? 'Ink' : 'Stamp',
      extent: extentOf(strokes, space),
      operators: strokes.flatMap((stroke) => drawStroke(lib, stroke, space)),
      color: first.color ?? usualColor,
      entries: lines.length > 0 ? { InkList: lines } : {},
    };
  }
  if (place !== null && (place.w > 0 || place.h > 0)) {
    const extent = extentOfRegion(place, space);
    const operators = drawRegion(lib, extent);
    return { subtype: 'Square', extent, operators, color: usualColor, entries: { BS: { W: LINE } } };
  }
  const extent = extentOfNote(place, space);
  const operators = drawNote(lib, extent);
  return { subtype: 'Text', extent, operators, color: usualColor, entries: { Name: 'Comment' } };
}

/** Registers an annotation of a page and what it looks like in every reader. */
function register(lib: PdfLib, document: PDFDocument, comment: PdfComment): PDFRef[] {
  const { context } = document;
  const page = document.getPage(comment.page - 1);
  const space = spaceOf(page);
  const { subtype, extent, operators, color, entries } = formOf(lib, comment, space);
  // The line around a region is half outside of it.
  const margin = subtype === 'Square' ? LINE : 0;
  const rect = rectOf(space.matrix, {
    x: extent.x - margin,
    y: extent.y - margin,
    width: extent.width + 2 * margin,
    height: extent.height + 2 * margin,
  });
  // What draws paths turns the y axis, which the matrix turns back.
  const [a, b, c, d, e, f] = space.matrix;
  const turned = lib.concatTransformationMatrix(a, b, -c, -d, e, f);
  const look = context.formXObject([lib.pushGraphicsState(), turned, ...operators, lib.popGraphicsState()], {
    BBox: context.obj(rect),
    Matrix: context.obj([1, 0, 0, 1, 0, 0]),
  });
  const text = (words: string) => lib.PDFHexString.fromText(words);
  const shared = {
    Type: 'Annot',
    P: page.ref,
    T: text(comment.author),
    M: lib.PDFString.fromDate(new Date(comment.createdAt)),
    CreationDate: lib.PDFString.fromDate(new Date(comment.createdAt)),
  };
  const ref = context.register(
    context.obj({
      ...shared,
      ...entries,
      Subtype: subtype,
      Rect: rect,
      Contents: text(comment.text),
      NM: text(comment.id),
      C: partsOf(color),
      // Printed with the page.
      F: 4,
      AP: { N: context.register(look) },
    }),
  );
  if (comment.resolved === null) return [ref];
  const state = {
    IRT: ref,
    StateModel: text('Review'),
    State: text('Completed'),
    Contents: text(comment.resolved),
  };
  // Hidden, as readers show states with the annotation.
  const reply = {
    ...shared,
    ...state,
    Subtype: 'Text',
    Rect: rect,
    NM: text(`${comment.id}-resolved`),
    F: 30,
  };
  return [ref, context.register(context.obj(reply))];
}

/**
 * Writes a copy of a PDF to `to` with comments as its annotations. The copy begins with the bytes of the original, so that
 * signatures of it stay valid. Returns false if the document is encrypted, damaged or too large (ANNOTATION-21).
 */
export async function annotatePdf(
  path: string,
  comments: readonly PdfComment[],
  to: string,
): Promise<boolean> {
  if ((await stat(path)).size > MOST_BYTES) return false;
  const lib = await import('@cantoo/pdf-lib');
  let document: PDFDocument;
  try {
    const options = { forIncrementalUpdate: true, updateMetadata: false };
    document = await lib.PDFDocument.load(await readFile(path), options);
    document.getPages();
  } catch {
    return false;
  }
  const { snapshot } = document.context;
  if (snapshot === undefined) return false;
  for (const comment of comments) {
    if (comment.page > document.getPageCount()) continue;
    const page = document.getPage(comment.page - 1);
    for (const ref of register(lib, document, comment)) page.node.addAnnot(ref);
  }
  const changes = await document.saveIncremental(snapshot, { objectsPerTick: Number.POSITIVE_INFINITY });
  await copyFile(path, to);
  await appendFile(to, changes);
  return true;
}
