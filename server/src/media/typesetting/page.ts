import type { Shape } from '../ladder.ts';
import { type Face, pathOf, widthOf } from './faces.ts';

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

/** Splits runs into pieces that are not broken across lines: words, spaces or single characters. */
function* pieces({ runs, cut }: Block): Generator<Run> {
  for (const run of runs) {
    const parts =
      cut === 'anywhere' ? run.text.matchAll(/\n|./gsu) : run.text.matchAll(/\n|[^\S\n]+|\S{1,60}/gu);
    for (const [text] of parts) yield { ...run, text };
  }
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
  const page: Page = {
    y: top,
    isFull: () => page.y >= height,
    space(pixels) {
      page.y += pixels;
    },
    set(block) {
      const { size, left, right, leading = 1.5 } = block;
      const start = page.y;
      const step = size * leading;
      let [x, isEmpty] = [left, true];
      const newLine = () => {
        page.y += step;
        [x, isEmpty] = [left, true];
      };
      for (const { text, face, fill } of pieces(block)) {
        if (page.isFull()) break;
        if (text === '\n') {
          newLine();
          continue;
        }
        let width = 0;
        for (const character of text) width += widthOf(face, character) * size;
        const isBlank = text.trim() === '';
        if (x + width > right && !isEmpty) {
          newLine();
          if (isBlank && block.cut === 'words') continue;
        }
        if (!isBlank) add(fill, pathOf(face, text, size, x, page.y + size));
        x += width;
        isEmpty = false;
      }
      page.y += step;
      return { top: start, bottom: page.y };
    },
    fill(left, top, { width, height }, colour) {
      backgrounds.push({ data: `M${left} ${top}h${width}v${height}h${-width}Z`, fill: colour });
    },
    paths: () => [...backgrounds, ...[...layers].map(([fill, data]) => ({ fill, data: data.join('') }))],
  };
  return page;
}
