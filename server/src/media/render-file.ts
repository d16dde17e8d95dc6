import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { MediaFacts } from '@vitrine/contract/media';
import { sentence } from '../platform/language/sentence.ts';
import { type ExifSummary, readExif } from './exif.ts';
import { requireRoomIn } from './faults.ts';
import type { Rung } from './ladder.ts';
import { renderPages } from './pages.ts';
import { type RenderOutcome, renderLadder } from './raster.ts';
import { openStill } from './renderable.ts';
import {
  BrokenFile,
  type EmbeddedSubtitles,
  type MadeRendition,
  NotDrawable,
  type SourceFile,
  type Still,
} from './still.ts';
import { mend } from './stills/mend.ts';
import { cutFilm } from './stills/motion.ts';

/** All results of rendering a file. */
export interface Rendering {
  ladder: RenderOutcome;
  /** Renditions besides the ladder; they may exist even if nothing could be drawn. */
  extras: readonly MadeRendition[];
  facts: MediaFacts;
  /** Plain text of the file for search; null if it has none. */
  text: string | null;
  exif: ExifSummary;
  /** Subtitles inside a film. */
  subtitles?: readonly EmbeddedSubtitles[];
}

/** The fraction of the progress that the still accounts for. Slow stills take much longer than the ladder. */
const STILL_PART = 0.9;

const nothing = { extras: [], facts: {}, text: null, exif: {} };

/** Returns the parser's error with its stack, for the log. */
function detailOf({ cause }: BrokenFile): { detail?: string } {
  return cause instanceof Error ? { detail: (cause.stack ?? cause.message).slice(0, 1000) } : {};
}

/** Draws the ladder of a picture, or of a mended copy if decoders refuse it. */
async function drawLadder(
  picture: { path: string; mime: string },
  rungs: readonly Rung[],
  outDir: string,
): Promise<RenderOutcome> {
  const ladder = await renderLadder(picture, rungs, { outDir });
  if (ladder.outcome === 'rendered') return ladder;
  if (ladder.outcome === 'unsupported' && picture.mime !== 'image/tiff') return ladder;
  try {
    const whole = await mend(picture, outDir);
    return whole === null ? ladder : await renderLadder(whole, rungs, { outDir });
  } catch (error) {
    if (error instanceof NotDrawable) return { outcome: 'unsupported', reason: error.sentence };
    throw error;
  }
}

/**
 * Makes every rendition of a file in `outDir`: a still, unless the file is a picture, and the ladder of it. Rejects
 * only on faults of the machine, which are retryable. Passes progress from 0 to 1 to `report`.
 */
export async function renderFile(
  file: SourceFile,
  rungs: readonly Rung[],
  outDir: string,
  report: (part: number) => void = () => {},
): Promise<Rendering> {
  let still: Still;
  try {
    still = await openStill(file, outDir, (part) => report(part * STILL_PART));
  } catch (error) {
    if (error instanceof NotDrawable)
      return { ...nothing, ladder: { outcome: 'unsupported', reason: error.sentence } };
    if (!(error instanceof BrokenFile)) throw error;
    await requireRoomIn(outDir);
    return { ...nothing, ladder: { outcome: 'broken', reason: error.sentence, ...detailOf(error) } };
  }
  const {
    picture,
    reason = sentence('nothing to draw'),
    shape = {},
    extras = [],
    facts = {},
    text = null,
    subtitles = [],
  } = still;
  const film = await cutFilm(file, outDir);
  const made = {
    extras: film === null ? extras : [...extras, film],
    facts: film === null ? facts : { ...facts, motion: true },
    text,
    ...(subtitles.length > 0 ? { subtitles } : {}),
  };
  if (picture === null) return { ...made, ladder: { outcome: 'unsupported', reason }, exif: {} };
  report(STILL_PART);
  const ladder = await drawLadder(picture, rungs, outDir);
  if (ladder.outcome !== 'rendered') return { ...made, ladder, exif: {} };
  if (file.mime === 'image/tiff') {
    const pages = await renderPages(file.path, outDir);
    made.extras = [...made.extras, ...pages.extras];
    if (pages.pageCount > 1) made.facts = { ...made.facts, page_count: pages.pageCount };
  }
  const exif = file.mime.startsWith('image/') ? await readExif(file.path) : {};
  return { ...made, ladder: { ...ladder, ...shape }, exif };
}

/** Makes every rendition of each file in a folder of its own below `outDir`. Returns null for files that cannot be rendered. */
export async function renderEach(
  files: readonly SourceFile[],
  rungs: readonly Rung[],
  outDir: string,
): Promise<(Rendering | null)[]> {
  const made: (Rendering | null)[] = [];
  for (const [place, file] of files.entries()) {
    const folder = join(outDir, String(place));
    mkdirSync(folder);
    made.push(await renderFile(file, rungs, folder).catch(() => null));
  }
  return made;
}
