import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sentence } from '../../platform/language/sentence.ts';
import { readContents } from '../office/contents.ts';
import { locateLibreOffice, toPdf } from '../office/libreoffice.ts';
import { officeTypes } from '../office/types.ts';
import { FileFault, type Still, type StillMaker, tooLarge } from '../still.ts';
import { MOST_TEXT, pdfStill } from './pdf.ts';

/** A larger document has no previews. */
const MOST_BYTES = 200 * 1024 ** 2;

/** Types that are not ZIP packages, so that nothing can be read from them without LibreOffice. */
const opaque = new Set([
  'application/rtf',
  'application/msword',
  'application/vnd.ms-excel',
  'application/vnd.ms-powerpoint',
]);

async function pagesOf(
  program: string,
  path: string,
  extension: string,
  outDir: string,
): Promise<Still | null> {
  const pdf = await toPdf(program, { path, extension }, outDir);
  if (pdf === null) return null;
  try {
    return await pdfStill({ path: pdf, mime: 'application/pdf' }, outDir);
  } catch (error) {
    if (error instanceof FileFault) return null;
    throw error;
  }
}

/**
 * Makes the pages of a document with LibreOffice if it is installed. Otherwise uses the document's own thumbnail, or
 * the cover of a book, and the document's text. Throws BrokenFile for a damaged document.
 */
export const officeStill: StillMaker = async ({ path, mime }, outDir) => {
  const { size } = await stat(path);
  if (size > MOST_BYTES) throw tooLarge(size);
  const extension = officeTypes.get(mime) ?? null;
  const program = locateLibreOffice(process.env.LIBREOFFICE_PROGRAM);
  // Detects damaged packages before LibreOffice tries to repair them.
  const { thumbnail, text } = opaque.has(mime)
    ? { thumbnail: null, text: '' }
    : await readContents(path, MOST_TEXT);
  if (extension !== null && program !== null) {
    const still = await pagesOf(program, path, extension, outDir);
    if (still !== null) return still;
  }
  const found = text === '' ? {} : { text };
  if (thumbnail !== null) {
    const picture = join(outDir, 'thumbnail');
    await writeFile(picture, thumbnail);
    const isPng = thumbnail[0] === 0x89;
    return { picture: { path: picture, mime: isPng ? 'image/png' : 'image/jpeg' }, ...found };
  }
  const reason =
    extension === null
      ? sentence('the book has no cover')
      : program === null
        ? sentence('LibreOffice is not installed, and the document has no thumbnail')
        : sentence('LibreOffice cannot read the document, and it has no thumbnail');
  return { picture: null, reason, ...found };
};
