import type { Shape } from '../ladder.ts';
import { clustersOf } from './clusters.ts';
import { type Direction, directionOfText, levelsOf, runsOf } from './directions.ts';
import { type Face, widthOf } from './faces.ts';
import { type Bidi, pathOfCluster } from './set-text.ts';

/** A run of text in one face and colour. */
export interface Run {
  text: string;
  face: Face;
  fill: string;
}

interface Block {
  runs: readonly Run[];
  size: number;
  /** Pixels from the left edge of the page. */
  left: number;
  /** Where lines end, in pixels. Code breaks at any character, other text between words. */
  right: number;
  cut: 'anywhere' | 'words';
  /** Otherwise that of the first letter of a paragraph between words, and from left to right anywhere. */
  direction?: Direction;
  /** Line height as a multiple of the font size. */
  leading?: number;
}

/** A page that is filled from the top. */
export interface Page {
  /** The next free pixel row. */
  y: number;
  isFull(): boolean;
  space(pixels: number): void;
  /** Sets a block and returns where it starts and ends. */
  set(block: Block): { top: number; bottom: number };
  /** Draws a rectangle behind all text. */
  fill(left: number, top: number, shape: Shape, colour: string): void;
  paths(): { data: string; fill: string }[];
}

/** Splits runs where the text has line breaks. */
function paragraphsOf(runs: readonly Run[]): Run[][] {
  const paragraphs: Run[][] = [[]];
  for (const run of runs) {
    for (const [index, text] of run.text.split('\n').entries()) {
      if (index > 0) paragraphs.push([]);
      paragraphs.at(-1)?.push({ ...run, text });
    }
  }
  return paragraphs;
}

/** Splits runs into pieces that are not broken across lines: words, spaces or single characters. */
function* pieces(runs: readonly Run[], cut: Block['cut']): Generator<Run> {
  for (const run of runs) {
    const parts = run.text.matchAll(cut === 'anywhere' ? /./gsu : /\s+|\S{1,60}/gu);
    for (const [text] of parts) yield { ...run, text };
  }
}

/** The width of a piece before its letters join, as a fraction of the font size. */
function roughWidth({ text, face }: Run): number {
  let width = 0;
  for (const character of text) width += widthOf(face, character);
  return width;
}

/** A line, with the number of UTF-16 units that are before it in its paragraph. */
interface Line {
  runs: Run[];
  start: number;
}

/** Breaks a paragraph into lines that are at most `room` wide, as a fraction of the font size. */
function* linesOf(paragraph: readonly Run[], cut: Block['cut'], room: number): Generator<Line> {
  let line: Line = { runs: [], start: 0 };
  let [used, at] = [0, 0];
  for (const piece of pieces(paragraph, cut)) {
    const width = roughWidth(piece);
    const isBlank = piece.text.trim() === '';
    if (used + width > room && line.runs.length > 0) {
      yield line;
      line = { runs: [], start: at };
      used = 0;
      // Drops the space at a line break.
      if (isBlank && cut === 'words') {
        at += piece.text.length;
        line.start = at;
        continue;
      }
    }
    const last = line.runs.at(-1);
    // Letters join across pieces of the same look.
    if (last?.face === piece.face && last.fill === piece.fill) last.text += piece.text;
    else line.runs.push({ ...piece });
    used += width;
    at += piece.text.length;
  }
  yield line;
}

/** Returns the parts of runs that are between two places of their text. */
function cutRuns(runs: readonly Run[], from: number, to: number): Run[] {
  let at = 0;
  return runs.flatMap((run) => {
    const start = at;
    at += run.text.length;
    const text = run.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    return text === '' ? [] : [{ ...run, text }];
  });
}

/** Returns the clusters of a line from left to right, with their colours. */
function clustersOfLine(runs: readonly Run[], { base, levels }: Bidi) {
  const line = runs.map(({ text }) => text).join('');
  return runsOf(line, levels, base).flatMap(({ start, end, direction }) => {
    const parts = cutRuns(runs, start, end);
    if (direction === 'rtl') parts.reverse();
    return parts.flatMap(({ text, face, fill }) =>
      clustersOf(face, text, direction).map((cluster) => ({ cluster, fill })),
    );
  });
}

/** Returns an empty page of this height whose text starts at `top`. Content that does not fit is left out. */
export function emptyPage(height: number, top: number): Page {
  const layers = new Map<string, string[]>();
  const backgrounds: { data: string; fill: string }[] = [];
  const add = (fill: string, data: string) => {
    const layer = layers.get(fill) ?? [];
    layer.push(data);
    layers.set(fill, layer);
  };
  const drawLine = (runs: readonly Run[], bidi: Bidi, { size, left, right, cut }: Block) => {
    const clusters = clustersOfLine(runs, bidi);
    const width = clusters.reduce((sum, { cluster }) => sum + cluster.width, 0) * size;
    // Texts from right to left begin at the right, but numbers of lines and columns of tables stay where they are.
    let x = bidi.base === 'rtl' && cut === 'words' ? Math.max(left, right - width) : left;
    for (const { cluster, fill } of clusters) {
      const data = pathOfCluster(cluster, size, x, page.y + size);
      if (data !== '') add(fill, data);
      x += cluster.width * size;
    }
  };
  const page: Page = {
    y: top,
    isFull: () => page.y >= height,
    space(pixels) {
      page.y += pixels;
    },
    set(block) {
      const { runs, size, left, right, cut, leading = 1.5 } = block;
      const start = page.y;
      for (const paragraph of paragraphsOf(runs)) {
        const text = paragraph.map((run) => run.text).join('');
        const base = block.direction ?? (cut === 'words' ? directionOfText(text) : 'ltr');
        const levels = levelsOf(text, base);
        for (const line of linesOf(paragraph, cut, (right - left) / size)) {
          if (page.isFull()) break;
          drawLine(line.runs, { base, levels: levels.subarray(line.start) }, block);
          page.y += size * leading;
        }
      }
      return { top: start, bottom: page.y };
    },
    fill(left, top, { width, height }, colour) {
      backgrounds.push({ data: `M${left} ${top}h${width}v${height}h${-width}Z`, fill: colour });
    },
    paths: () => [...backgrounds, ...[...layers].map(([fill, data]) => ({ fill, data: data.join('') }))],
  };
  return page;
}
