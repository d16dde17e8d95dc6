import { decodePDFRawStream, PDFDocument, PDFName, PDFRawStream } from '@cantoo/pdf-lib';
import { PDFiumLibrary } from '@hyzyla/pdfium';

/** Returns the Latin texts of a contact sheet. */
export async function textOfSheet(bytes: ArrayBuffer | Uint8Array): Promise<string> {
  const document = await PDFDocument.load(bytes);
  const subtype = PDFName.of('Subtype');
  return document.context
    .enumerateIndirectObjects()
    .flatMap(([, object]) => (object instanceof PDFRawStream && !object.dict.has(subtype) ? [object] : []))
    .map((stream) => Buffer.from(decodePDFRawStream(stream).decode()).toString('latin1'))
    .flatMap((content) => [...content.matchAll(/<([0-9a-f]+)> Tj/gi)])
    .map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1'))
    .join('\n');
}

/** A page of a contact sheet as a program that shows PDFs reads it. */
export interface ReadPage {
  /** The lines in the order in which they are read. */
  lines: string[];
  width: number;
  height: number;
  /** Pixels of four bytes. */
  pixels: Uint8Array;
}

/** Returns the pages of a contact sheet. */
export async function readSheet(bytes: Uint8Array): Promise<ReadPage[]> {
  const library = await PDFiumLibrary.init();
  // PDFium cannot read the text of a page that it has drawn.
  const [read, drawn] = [await library.loadDocument(bytes), await library.loadDocument(bytes)];
  const texts = [...read.pages()].map((page) => page.getText());
  const pages: ReadPage[] = [];
  for (const [index, page] of [...drawn.pages()].entries()) {
    const { data, width, height } = await page.render({ scale: 1, render: 'bitmap' });
    const lines = (texts[index] ?? '').split(/\r?\n/).map((line) => line.trim());
    pages.push({ lines: lines.filter((line) => line !== ''), width, height, pixels: data.slice() });
  }
  read.destroy();
  drawn.destroy();
  library.destroy();
  return pages;
}

/** Returns the first and the last column of what a page shows in the 14 rows from `top` on. */
export function columnsOf(page: ReadPage | undefined, top: number): { first: number; last: number } {
  const columns: number[] = [];
  if (page === undefined) throw new Error('there is no page');
  for (let x = 0; x < page.width; x += 1) {
    const isDark = (y: number) => (page.pixels[(y * page.width + x) * 4] ?? 255) < 200;
    if (Array.from({ length: 14 }, (_, row) => top + row).some(isDark)) columns.push(x);
  }
  return { first: Math.min(...columns), last: Math.max(...columns) };
}

/** Returns the number of characters of a contact sheet that have a box in place of a glyph. */
export async function countBoxes(bytes: Uint8Array): Promise<number> {
  const document = await PDFDocument.load(bytes);
  return document.context
    .enumerateIndirectObjects()
    .flatMap(([, object]) => (object instanceof PDFRawStream ? [object] : []))
    .filter(({ dict }) => !dict.has(PDFName.of('Subtype')))
    .filter((stream) =>
      /^\d+ 0 d0\n80 50 /.test(Buffer.from(decodePDFRawStream(stream).decode()).toString('latin1')),
    ).length;
}
