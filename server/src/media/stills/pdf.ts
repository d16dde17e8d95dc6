import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PDFiumDocument, PDFiumLibrary, type PDFiumPage } from '@hyzyla/pdfium';
import { renditions } from '@vitrine/contract/renditions';
import { sentence } from '../../platform/language/sentence.ts';
import { isFaultOfTheMachine, loadLibrary } from '../faults.ts';
import type { Shape } from '../ladder.ts';
import {
  asFileFault,
  BrokenFile,
  type MadeRendition,
  NotDrawable,
  type Still,
  type StillMaker,
  tooLarge,
} from '../still.ts';
import { sharp, webp } from '../tuned-sharp.ts';
import { offerFonts } from './pdf-fonts.ts';

/** A larger document has no previews, because it is held in memory twice. */
const MOST_BYTES = 400 * 1024 ** 2;
/** Longest edge of the picture of the first page, from which the ladder is made, in pixels. */
const PICTURE_EDGE = 2400;
const PAGE_EDGE = renditions['page-{n}'].largestSide;
/** Maximum number of pages that become renditions. */
const MOST_PAGES = 50;
/** Time limit for pages, so that a slow document has its first pages rather than none. */
const PAGES_MS = 60_000;
/** Maximum number of pages whose text is read. */
const MOST_TEXT_PAGES = 2000;
/** Maximum number of characters of text that are stored. */
export const MOST_TEXT = 500_000;

/** Opens a document. `text` has the characters of East Asian fonts that it uses without containing them. */
async function openDocument(
  path: string,
  text: string | null,
): Promise<{ document: PDFiumDocument; asked: ReadonlySet<unknown> }> {
  const { size } = await stat(path);
  if (size > MOST_BYTES) throw tooLarge(size);
  // Uses a new instance for each file, so that a damaged file cannot corrupt PDFium's memory for the next one.
  const library = await loadLibrary('PDFium', () => PDFiumLibrary.init());
  const asked = offerFonts(library, text);
  const bytes = await readFile(path);
  try {
    return { document: await library.loadDocument(bytes), asked };
  } catch (error) {
    if (isFaultOfTheMachine(error)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    if (/password/i.test(message)) throw new NotDrawable(sentence('the PDF is protected by a password'));
    if (/security/i.test(message))
      throw new NotDrawable(sentence('the PDF is encrypted in a way that is not supported'));
    throw new BrokenFile(sentence('the PDF is damaged'), { cause: error });
  }
}

/**
 * Returns the size in pixels of a page scaled so that its longest edge is `edge`, or null if its size is unusable.
 */
function shapeOfPage(page: PDFiumPage, edge: number): Shape | null {
  const { originalWidth, originalHeight } = page.getOriginalSize();
  const longest = Math.max(originalWidth, originalHeight);
  if (!(longest > 0 && Number.isFinite(longest))) return null;
  const scaled = (length: number) => Math.max(1, Math.round((length * edge) / longest));
  return { width: scaled(originalWidth), height: scaled(originalHeight) };
}

/** Draws a page on white and closes it; returns null if its size is unusable. */
async function drawPage(page: PDFiumPage, edge: number) {
  const shape = shapeOfPage(page, edge);
  if (shape === null) return null;
  const { data, width, height } = await page.render({ ...shape, renderFormFields: true });
  return sharp(data, { raw: { width, height, channels: 4 } }).removeAlpha();
}

/** Closes a page that was opened only for its text; the library closes pages only after drawing them. */
function closePage(page: PDFiumPage): void {
  // Both exist at run time but are declared private.
  const { module, pageIdx } = page as unknown as {
    module: { _FPDF_ClosePage(page: number): void };
    pageIdx: number;
  };
  if (pageIdx !== 0) module._FPDF_ClosePage(pageIdx);
}

/** Returns the text of all pages in order, up to `MOST_TEXT` characters. Leaves out pages that cannot be read. */
function readText(document: PDFiumDocument, pageCount: number): string {
  let text = '';
  for (let index = 0; index < Math.min(pageCount, MOST_TEXT_PAGES) && text.length < MOST_TEXT; index += 1) {
    const page = document.getPage(index);
    try {
      // PDFium marks a hyphen that divides a word at the end of a line.
      text += `${page.getText().replace(/\ufffe(?:\r?\n)?/g, '')}\n`;
    } catch {
      // Treats a damaged page as having no text.
    } finally {
      closePage(page);
    }
  }
  return text.slice(0, MOST_TEXT).trim();
}

async function drawPages(
  document: PDFiumDocument,
  count: number,
  outDir: string,
  report: (part: number) => void,
): Promise<MadeRendition[]> {
  const until = performance.now() + PAGES_MS;
  const made: MadeRendition[] = [];
  for (let index = 0; index < Math.min(count, MOST_PAGES) && performance.now() < until; index += 1) {
    report(index / Math.min(count, MOST_PAGES));
    const picture = await drawPage(document.getPage(index), PAGE_EDGE);
    if (picture === null) continue;
    const key = `page-${index + 1}` as const;
    const { data, info } = await picture.webp(webp).toBuffer({ resolveWithObject: true });
    const path = join(outDir, `${key}.webp`);
    await writeFile(path, data);
    const { width, height } = info;
    made.push({ key, path, contentType: 'image/webp', sizeBytes: data.length, width, height });
  }
  return made;
}

/**
 * Makes a picture of the first page of a PDF, renditions `page-1` to `page-50` of the first pages, and the text of
 * all pages. Throws NotDrawable for a PDF that is encrypted or too large, and BrokenFile for a damaged one.
 */
export const pdfStill: StillMaker = ({ path }, outDir, report = () => {}) =>
  asFileFault(sentence('the PDF is damaged'), () => drawPdf(path, outDir, report));

async function drawPdf(path: string, outDir: string, report: (part: number) => void): Promise<Still> {
  const opened = await openDocument(path, null);
  const pageCount = opened.document.getPageCount();
  if (pageCount === 0) throw new BrokenFile(sentence('the PDF has no pages'));
  const text = readText(opened.document, pageCount);
  // A font is chosen when its page is read, so the document is opened again with the characters it needs.
  const document = opened.asked.size === 0 ? opened.document : (await openDocument(path, text)).document;
  const picture = await drawPage(document.getPage(0), PICTURE_EDGE);
  if (picture === null) throw new BrokenFile(sentence('the first page of the PDF is damaged'));
  const pictureFile = join(outDir, 'first-page.png');
  await writeFile(pictureFile, await picture.png({ compressionLevel: 1 }).toBuffer());
  const extras = await drawPages(document, pageCount, outDir, report);
  return {
    picture: { path: pictureFile, mime: 'image/png' },
    extras,
    facts: { page_count: pageCount },
    ...(text === '' ? {} : { text }),
  };
}
