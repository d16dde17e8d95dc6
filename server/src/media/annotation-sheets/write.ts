import { open, writeFile } from 'node:fs/promises';
import type { PDFFont, PDFImage, PDFPage } from '@cantoo/pdf-lib';
import { directionOf, type Language } from '@vitrine/contract/languages';
import { type Direction, directionOfText, levelsOf } from '../typesetting/directions.ts';
import { isInvisible } from '../typesetting/faces.ts';
import { openPdfGlyphs } from '../typesetting/pdf-glyphs.ts';
import { lineOfClusters } from '../typesetting/set-text.ts';
import { linesOf } from './lines.ts';
import type { Drawn } from './overlay.ts';
import { drawOver } from './picture.ts';

/** A4, in points. */
const PAGE = [595, 842] as const;
const MARGIN = 40;
const WIDTH = PAGE[0] - 2 * MARGIN;
const MOST_PICTURE_HEIGHT = 420;
const LETTERS = 10;
const LINE = 14;
/** The indentation of texts below their headings. */
const INDENT = 16;

/** The longest edge of a picture; of many pictures, which are all in memory until the document is written. */
const EDGE = { few: 2048, many: 800 };
const FEW_PICTURES = 40;

/** A picture with what is below it: the annotations of a file, or of a page of a document. */
export interface SheetPart {
  title: string;
  /** Where the picture is in the file of pictures; null if there is none. */
  picture: { offset: number; length: number } | null;
  drawn: readonly Drawn[];
  entries: readonly { heading: string; text: string }[];
}

/** What a contact sheet shows. Texts are on one line. */
export interface SheetContents {
  /** The language of the sheet's own words. Pages in right-to-left languages are mirrored. */
  language: Language;
  title: string;
  /** What a sheet without parts says. */
  empty: string;
  parts: readonly SheetPart[];
}

/** Draws lines of text from the top of a page down, and begins another page when one is full. */
interface Writer {
  /** Writes a name at the start of the page, in its own direction. */
  name(text: string): void;
  /** Writes a line of the sheet's own words, in the direction of the page. */
  heading(text: string): void;
  /** Writes what somebody wrote, in its own direction. */
  body(text: string, indent: number): void;
  picture(image: PDFImage, width: number, height: number): void;
  gap(points: number): void;
  save(): Promise<Uint8Array>;
}

/** How a text is written. */
interface Look {
  face: 'regular' | 'bold';
  base: Direction;
  /** From the side at which lines of the page begin. */
  indent: number;
}

/** Opens a document. Texts that Helvetica can write are in it, all others in the bundled typefaces. */
async function openWriter(title: string, language: Language) {
  const { PDFDocument, ReadingDirection, StandardFonts } = await import('@cantoo/pdf-lib');
  const document = await PDFDocument.create();
  const start = directionOf(language);
  document.setTitle(title);
  document.setLanguage(language);
  if (start === 'rtl')
    document.catalog.getOrCreateViewerPreferences().setReadingDirection(ReadingDirection.R2L);
  const fonts: Record<'regular' | 'bold', PDFFont> = {
    regular: await document.embedFont(StandardFonts.Helvetica),
    bold: await document.embedFont(StandardFonts.HelveticaBold),
  };
  const glyphs = await openPdfGlyphs(document);
  const known = new Set(fonts.regular.getCharacterSet());
  let page: PDFPage = document.addPage([...PAGE]);
  let top = PAGE[1] - MARGIN;
  const reserve = (height: number) => {
    if (top - height >= MARGIN) return;
    page = document.addPage([...PAGE]);
    top = PAGE[1] - MARGIN;
  };
  const leftOf = (width: number, indent = 0) =>
    start === 'rtl' ? PAGE[0] - MARGIN - indent - width : MARGIN + indent;
  const writeLine = (line: string, levels: Uint8Array, { face, base, indent }: Look) => {
    const font = fonts[face];
    const shown = line.trimEnd();
    const y = top - LETTERS;
    const letters = [...shown].filter((character) => !isInvisible(character));
    const isKnown = letters.every((character) => known.has(character.codePointAt(0) ?? 0));
    if (isKnown && base === 'ltr') {
      const text = letters.join('');
      const x = leftOf(font.widthOfTextAtSize(text, LETTERS), indent);
      page.drawText(text, { x, y, size: LETTERS, font });
      return;
    }
    const clusters = lineOfClusters(face, shown, { base, levels });
    const width = clusters.reduce((sum, cluster) => sum + cluster.width, 0) * LETTERS;
    glyphs.write(page, clusters, { x: leftOf(width, indent), y, size: LETTERS });
  };
  const write = (text: string, look: Look) => {
    const levels = levelsOf(text, look.base);
    let at = 0;
    for (const line of linesOf(text, look.face, LETTERS, WIDTH - look.indent)) {
      reserve(LINE);
      writeLine(line, levels.subarray(at, at + line.length), look);
      at += line.length;
      top -= LINE;
    }
  };
  const writer: Writer = {
    name(text) {
      write(text, { face: 'bold', base: directionOfText(text, start), indent: 0 });
    },
    heading(text) {
      write(text, { face: 'bold', base: start, indent: 0 });
    },
    body(text, indent) {
      write(text, { face: 'regular', base: directionOfText(text, start), indent });
    },
    picture(image, width, height) {
      reserve(height + LINE);
      page.drawImage(image, { x: leftOf(width), y: top - height, width, height });
      top -= height + 8;
    },
    gap(points) {
      top -= points;
    },
    save() {
      glyphs.finish();
      return document.save();
    },
  };
  return { document, writer };
}

/**
 * Writes a contact sheet to `to` as PDF: each file, or page of a document, with numbered pins, outlines and drawings, and
 * below it the numbered texts (ANNOTATION-14). The file at `path` has the pictures.
 */
export async function writeSheet(
  path: string,
  { language, title, empty, parts }: SheetContents,
  to: string,
): Promise<void> {
  const pictures = await open(path);
  try {
    const { document, writer } = await openWriter(title, language);
    writer.name(title);
    writer.gap(6);
    if (parts.length === 0) writer.body(empty, 0);
    const edge = parts.length > FEW_PICTURES ? EDGE.many : EDGE.few;
    for (const { title, picture, drawn, entries } of parts) {
      writer.name(title);
      const rendition = picture === null ? null : Buffer.alloc(picture.length);
      if (rendition !== null) await pictures.read(rendition, 0, rendition.length, picture?.offset);
      const { bytes, width, height } = await drawOver(rendition, drawn, edge);
      const scale = Math.min(WIDTH / width, MOST_PICTURE_HEIGHT / height);
      writer.picture(await document.embedJpg(bytes), width * scale, height * scale);
      for (const { heading, text } of entries) {
        writer.heading(heading);
        writer.body(text, INDENT);
      }
      writer.gap(12);
    }
    await writeFile(to, await writer.save());
  } finally {
    await pictures.close();
  }
}
