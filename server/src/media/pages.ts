import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renditions } from '@vitrine/contract/renditions';
import { contain, type Shape } from './ladder.ts';
import { mostPixels, refusalOf } from './raster.ts';
import type { MadeRendition } from './still.ts';
import { sharp, strictnessOf, webp } from './tuned-sharp.ts';

const PAGE_EDGE = renditions['page-{n}'].largestSide;
/** Maximum number of pages that become renditions. */
const MOST_PAGES = 50;
/** Time limit for pages; the rest of the decoder's time is for the ladder. */
const PAGES_MS = 20_000;

/** Returns whether a page is a copy of the first picture at half its size, as in a pyramidal TIFF. */
function isReduced(page: Shape, first: Shape): boolean {
  const isHalf = (edge: number, whole: number) => Math.abs(edge - whole / 2) <= 1;
  return isHalf(page.width, first.width) && isHalf(page.height, first.height);
}

/**
 * Makes renditions of the first pages of a TIFF and counts its pages. Makes none for a single picture or for a
 * pyramid of smaller copies. Skips pages that cannot be drawn. Rejects only on faults of the machine.
 */
export async function renderPages(
  path: string,
  outDir: string,
): Promise<{ extras: MadeRendition[]; pageCount: number }> {
  const limit = mostPixels('image/tiff');
  const extras: MadeRendition[] = [];
  const until = performance.now() + PAGES_MS;
  const open = (page: number) =>
    sharp(path, { page, ...strictnessOf('image/tiff'), limitInputPixels: limit, sequentialRead: true });
  // libvips does not open the directories of every TIFF that is drawn.
  const header = await open(0)
    .metadata()
    .catch((error: unknown) => void refusalOf(error));
  if (header === undefined) return { extras: [], pageCount: 1 };
  const { pages = 1, autoOrient: first } = header;
  for (let page = 0; page < Math.min(pages, MOST_PAGES) && performance.now() < until; page += 1) {
    try {
      const { autoOrient } = await open(page).metadata();
      if (page === 1 && isReduced(autoOrient, first)) return { extras: [], pageCount: 1 };
      if (pages === 1) break;
      const { width, height } = contain(PAGE_EDGE, autoOrient);
      const picture = open(page).autoOrient().resize(width, height, { fit: 'fill' }).toColourspace('srgb');
      const bytes = await picture.webp(webp).toBuffer();
      const key = `page-${page + 1}` as const;
      const to = join(outDir, `${key}.webp`);
      await writeFile(to, bytes);
      extras.push({ key, path: to, contentType: 'image/webp', sizeBytes: bytes.length, width, height });
    } catch (error) {
      refusalOf(error);
    }
  }
  return { extras, pageCount: pages };
}
