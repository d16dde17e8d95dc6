import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sentence } from '../../platform/language/sentence.ts';
import { locateGhostscript, postscriptToPdf } from '../postscript/ghostscript.ts';
import { commentPreview, tiffPreview } from '../postscript/preview.ts';
import { NotDrawable, type Still, type StillMaker, tooLarge } from '../still.ts';
import { sharp } from '../tuned-sharp.ts';
import { pdfStill } from './pdf.ts';

/** A larger file has no previews. */
const MOST_BYTES = 200 * 1024 ** 2;

/** Returns the embedded preview if there is one that can be read. */
async function ownPreview(bytes: Buffer, outDir: string): Promise<Still['picture']> {
  const tiff = tiffPreview(bytes);
  const path = join(outDir, 'preview');
  if (
    tiff !== null &&
    (await sharp(tiff)
      .metadata()
      .catch(() => null)) !== null
  ) {
    await writeFile(path, tiff);
    return { path, mime: 'image/tiff' };
  }
  const png = await commentPreview(bytes);
  if (png === null) return null;
  await writeFile(path, png);
  return { path, mime: 'image/png' };
}

/**
 * Makes a picture of PostScript, EPS, and Illustrator files that are not PDF: the embedded preview, or the pages that
 * Ghostscript renders. PostScript is a programming language that only Ghostscript can run. Throws NotDrawable if
 * neither is available.
 */
export const postscriptStill: StillMaker = async ({ path }, outDir) => {
  const { size } = await stat(path);
  if (size > MOST_BYTES) throw tooLarge(size);
  const picture = await ownPreview(await readFile(path), outDir);
  if (picture !== null) return { picture };
  const program = locateGhostscript(process.env.GHOSTSCRIPT_PROGRAM);
  if (program === null)
    throw new NotDrawable(sentence('Ghostscript is not installed, and the file has no preview'));
  const pdf = await postscriptToPdf(program, path, outDir);
  if (pdf === null)
    throw new NotDrawable(sentence('Ghostscript cannot read the file, and it has no preview'));
  return pdfStill({ path: pdf, mime: 'application/pdf' }, outDir);
};
