import type { PDFFont, PDFImage, PDFPage } from '@cantoo/pdf-lib';
import type { Stroke } from '@vitrine/contract/strokes';
import type { Caller } from '../../../access/caller.ts';
import type { Deps } from '../../../core/deps.ts';
import { measure, pathOf } from '../../../media/typesetting/faces.ts';
import { drawOver } from './picture.ts';
import { type ExportedAnnotation, onOneLine } from './read.ts';
import { countingOf, spanOf, timecodeOf } from './timecode.ts';

/** A4, in points. */
const PAGE = [595, 842] as const;
const MARGIN = 40;
const WIDTH = PAGE[0] - 2 * MARGIN;
const MOST_PICTURE_HEIGHT = 420;
const LETTERS = 10;
const LINE = 14;
/** Texts as paths take room. */
const LONGEST_TEXT = 2000;

/** Draws lines of text from the top of a page down, and begins another page when one is full. */
interface Writer {
  text(text: string, face?: 'regular' | 'bold', left?: number): void;
  picture(image: PDFImage, width: number, height: number): void;
  gap(points: number): void;
}

/** Breaks a text into lines of this width, between words or, where a word is too long, within it. */
function linesOf(text: string, face: 'regular' | 'bold', width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=\s)|(?=[\u3000-\u9fff\uac00-\ud7af])/u)) {
    if (measure(face, line + word, LETTERS) <= width) {
      line += word;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const character of word) {
      if (measure(face, line + character, LETTERS) > width) {
        lines.push(line);
        line = '';
      }
      line += character;
    }
  }
  return [...lines, line];
}

/** A document of the bundled typefaces. Texts that Helvetica can write are texts, all others paths. */
async function openWriter() {
  const { PDFDocument, StandardFonts, rgb } = await import('@cantoo/pdf-lib');
  const document = await PDFDocument.create();
  const fonts: Record<'regular' | 'bold', PDFFont> = {
    regular: await document.embedFont(StandardFonts.Helvetica),
    bold: await document.embedFont(StandardFonts.HelveticaBold),
  };
  const known = new Set(fonts.regular.getCharacterSet());
  let page: PDFPage = document.addPage([...PAGE]);
  let top = PAGE[1] - MARGIN;
  const reserve = (height: number) => {
    if (top - height >= MARGIN) return;
    page = document.addPage([...PAGE]);
    top = PAGE[1] - MARGIN;
  };
  const writer: Writer = {
    text(text, face = 'regular', left = 0) {
      for (const line of linesOf(text, face, WIDTH - left)) {
        reserve(LINE);
        const at = { x: MARGIN + left, y: top - LETTERS };
        const isKnown = [...line].every((character) => known.has(character.codePointAt(0) ?? 0));
        if (isKnown) page.drawText(line, { ...at, size: LETTERS, font: fonts[face] });
        else page.drawSvgPath(pathOf(face, line, LETTERS, 0, 0), { ...at, color: rgb(0, 0, 0) });
        top -= LINE;
      }
    },
    picture(image, width, height) {
      reserve(height + LINE);
      page.drawImage(image, { x: MARGIN, y: top - height, width, height });
      top -= height + 8;
    },
    gap(points) {
      top -= points;
    },
  };
  return { document, writer };
}

/** Where an annotation is, in words. */
function placeInWords({ anchor, facts, version, current }: ExportedAnnotation): string {
  const before = current ? '' : `version ${version}, `;
  if (anchor.kind === 'page') return `${before}page ${anchor.page}`;
  if (anchor.kind !== 'time') return before.replace(/, $/, '');
  const counting = countingOf(facts, undefined);
  return `${before}${timecodeOf(counting.start + spanOf(anchor, counting).frame, counting)}`;
}

/** What is shown under one picture: the annotations of a page of a document, or of another file. */
function sheetsOf(annotations: readonly ExportedAnnotation[]): ExportedAnnotation[][] {
  const keyOf = ({ asset_id, anchor }: ExportedAnnotation) =>
    `${asset_id} ${anchor.kind === 'page' ? anchor.page : ''}`;
  return [...Map.groupBy(annotations, keyOf).values()];
}

/**
 * Writes a contact sheet: each file, or page of a document, with numbered pins, outlines and drawings, and below it the
 * numbered texts (ANNOTATION-14).
 */
export async function writeSheet(
  deps: Pick<Deps, 'db' | 'served' | 'storage'>,
  caller: Caller,
  title: string,
  annotations: readonly ExportedAnnotation[],
  drawings: ReadonlyMap<string, readonly Stroke[]>,
): Promise<Uint8Array> {
  const { document, writer } = await openWriter();
  document.setTitle(onOneLine(title));
  writer.text(onOneLine(title), 'bold');
  writer.gap(6);
  if (annotations.length === 0) writer.text('There are no annotations.');
  let number = 0;
  for (const sheet of sheetsOf(annotations)) {
    const [first] = sheet;
    if (first === undefined) continue;
    const numbered = sheet.map((annotation) => {
      number += 1;
      return { annotation, number };
    });
    writer.text(onOneLine(first.file), 'bold');
    // Drawings of earlier versions are about another picture.
    const drawn = numbered
      .filter(({ annotation }) => annotation.current)
      .map(({ annotation: { id, anchor }, number }) => ({ number, anchor, strokes: drawings.get(id) ?? [] }));
    const of = { asset: first.asset_id, anchor: first.anchor };
    const { bytes, width, height } = await drawOver(deps, caller, of, drawn);
    const scale = Math.min(WIDTH / width, MOST_PICTURE_HEIGHT / height);
    writer.picture(await document.embedJpg(bytes), width * scale, height * scale);
    for (const { annotation, number } of numbered) {
      const { author, body, resolved_at } = annotation;
      const facts = [onOneLine(author), placeInWords(annotation), resolved_at === null ? '' : 'resolved'];
      writer.text(`${number}  ${facts.filter((fact) => fact !== '').join(' · ')}`, 'bold');
      writer.text(onOneLine(body).slice(0, LONGEST_TEXT), 'regular', 16);
    }
    writer.gap(12);
  }
  return document.save();
}
