import { open, writeFile } from 'node:fs/promises';
import type { PDFFont, PDFImage, PDFPage } from '@cantoo/pdf-lib';
import { openPdfGlyphs } from '../typesetting/pdf-glyphs.ts';
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
  title: string;
  /** What a sheet without parts says. */
  empty: string;
  parts: readonly SheetPart[];
}

/** Draws lines of text from the top of a page down, and begins another page when one is full. */
interface Writer {
  text(text: string, face?: 'regular' | 'bold', left?: number): void;
  picture(image: PDFImage, width: number, height: number): void;
  gap(points: number): void;
  save(): Promise<Uint8Array>;
}

/** Opens a document. Texts that Helvetica can write are in it, all others in the bundled typefaces. */
async function openWriter(title: string) {
  const { PDFDocument, StandardFonts } = await import('@cantoo/pdf-lib');
  const document = await PDFDocument.create();
  document.setTitle(title);
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
  const writer: Writer = {
    text(text, face = 'regular', left = 0) {
      for (const line of linesOf(text, face, LETTERS, WIDTH - left)) {
        reserve(LINE);
        const at = { x: MARGIN + left, y: top - LETTERS, size: LETTERS };
        const isKnown = [...line].every((character) => known.has(character.codePointAt(0) ?? 0));
        if (isKnown) page.drawText(line, { ...at, font: fonts[face] });
        else glyphs.write(page, line, { ...at, face });
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
  { title, empty, parts }: SheetContents,
  to: string,
): Promise<void> {
  const pictures = await open(path);
  try {
    const { document, writer } = await openWriter(title);
    writer.text(title, 'bold');
    writer.gap(6);
    if (parts.length === 0) writer.text(empty);
    const edge = parts.length > FEW_PICTURES ? EDGE.many : EDGE.few;
    for (const { title, picture, drawn, entries } of parts) {
      writer.text(title, 'bold');
      const rendition = picture === null ? null : Buffer.alloc(picture.length);
      if (rendition !== null) await pictures.read(rendition, 0, rendition.length, picture?.offset);
      const { bytes, width, height } = await drawOver(rendition, drawn, edge);
      const scale = Math.min(WIDTH / width, MOST_PICTURE_HEIGHT / height);
      writer.picture(await document.embedJpg(bytes), width * scale, height * scale);
      for (const { heading, text } of entries) {
        writer.text(heading, 'bold');
        writer.text(text, 'regular', 16);
      }
      writer.gap(12);
    }
    await writeFile(to, await writer.save());
  } finally {
    await pictures.close();
  }
}
