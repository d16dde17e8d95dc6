import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sentence } from '../../platform/language/sentence.ts';
import { isFaultOfTheMachine } from '../faults.ts';
import { readHead } from '../head.ts';
import { type MadeRendition, NotDrawable, type Still, type StillMaker } from '../still.ts';
import { decodeText } from '../text-encoding.ts';
import { drawMarkdown } from '../texts/drawn-markdown.ts';
import { type Flavour, flavourOf } from '../texts/flavour.ts';
import { CODE_INK, colouredRuns, highlighted } from '../texts/highlighted.ts';
import { textHtml } from '../texts/html.ts';
import { readTable, type Table } from '../texts/table.ts';
import { emptyPage, type Page } from '../typesetting/page.ts';
import { drawSheet } from '../typesetting/sheet.ts';

/** Maximum number of bytes read of a text; the rest is only in the original. */
const MOST_BYTES = 200_000;
/** Maximum number of characters considered for the picture of the first page. */
const MOST_DRAWN = 12_000;

const WIDTH = 1200;
const HEIGHT = 1600;
/** Height of a sheet with little text, as a fraction of its width. */
const LEAST_HEIGHT = 0.75;
/** A text of at most this many characters is drawn on a narrow sheet, on which it is larger in thumbnails. */
const SHORT = 300;
const NARROW = 800;
const MARGIN = 80;
const FAINT = '#a0a7b0';
const RULE = '#d8dce1';

function drawCode(page: Page, html: string): void {
  const lines: { text: string; fill: string }[][] = [[]];
  for (const { text, fill } of colouredRuns(html)) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      lines.at(-1)?.push({ text: part, fill });
    }
  }
  const size = 20;
  for (const [index, runs] of lines.entries()) {
    if (page.isFull()) return;
    const { y } = page;
    const number = { text: String(index + 1).padStart(4), face: 'mono', fill: FAINT } as const;
    page.set({ runs: [number], size, left: 24, right: MARGIN + 20, cut: 'anywhere' });
    page.y = y;
    const coloured = runs.map((run) => ({ ...run, face: 'mono' as const }));
    page.set({ runs: coloured, size, left: MARGIN + 20, right: WIDTH - 40, cut: 'anywhere' });
  }
}

/** Draws as many rows as fit on the page, with columns as wide as their contents. */
function drawTable(page: Page, { rows }: Table): void {
  const size = 20;
  const shown = rows.slice(0, 50);
  const widths = (shown[0] ?? []).map((_, at) =>
    Math.min(32, Math.max(3, ...shown.map((row) => [...(row[at] ?? '')].length))),
  );
  for (const [index, row] of shown.entries()) {
    if (page.isFull()) return;
    const { y } = page;
    let left = 50;
    for (const [at, width] of widths.entries()) {
      const letters = [...(row[at] ?? '').replaceAll(/\s+/g, ' ')];
      const text = letters.length > width ? `${letters.slice(0, width - 1).join('')}…` : letters.join('');
      page.y = y;
      const face = index === 0 ? 'bold' : 'mono';
      page.set({
        runs: [{ text, face, fill: CODE_INK }],
        size,
        left,
        right: WIDTH * 4,
        cut: 'anywhere',
        leading: 1.6,
      });
      left += (width + 2) * size * 0.6;
      if (left > WIDTH) break;
    }
    page.fill(50, Math.round(page.y), { width: WIDTH - 100, height: index === 0 ? 2 : 1 }, RULE);
    page.space(8);
  }
}

interface Texts {
  text: string;
  flavour: Flavour;
  table: Table | null;
  cutAt: number | null;
}

function drawText(page: Page, { text, flavour, table }: Texts, width: number): void {
  const beginning = text.slice(0, MOST_DRAWN).replaceAll('\t', '    ');
  if (table !== null) drawTable(page, table);
  else if (flavour.kind === 'markdown') drawMarkdown(page, beginning, MARGIN, width - MARGIN);
  else if (flavour.kind === 'code') drawCode(page, highlighted(beginning, flavour.language));
  else {
    const runs = [{ text: beginning, face: 'mono', fill: CODE_INK } as const];
    page.set({ runs, size: 21, left: MARGIN, right: width - MARGIN + 10, cut: 'words' });
  }
}

/** Reads the start of a file as text without control characters, and whether the file continues. */
async function readBeginning(path: string): Promise<{ text: string; cutAt: number | null }> {
  const { head, fileSize } = await readHead(path, MOST_BYTES);
  // `stream` drops a character that is cut off at the end.
  const decoded = decodeText(head);
  // Removes other control characters, which can be neither drawn nor stored in the database.
  const text = decoded.replaceAll('\r\n', '\n').replace(/[^\P{Cc}\t\n]/gu, '');
  return { text, cutAt: fileSize > head.length ? head.length : null };
}

async function drawFirstPage(texts: Texts, outDir: string): Promise<Still['picture']> {
  const { kind } = texts.flavour;
  const page = emptyPage(HEIGHT, kind === 'code' ? 40 : MARGIN);
  const width = kind === 'plain' && texts.text.length <= SHORT ? NARROW : WIDTH;
  drawText(page, texts, width);
  const height = Math.round(Math.min(HEIGHT, Math.max(width * LEAST_HEIGHT, page.y + MARGIN)));
  return drawSheet({ width, height, background: '#ffffff', paths: page.paths() }, outDir);
}

/** Makes all output of a text. Throws a RangeError for a text that is nested too deeply for its parser. */
async function makeStill(texts: Texts, outDir: string): Promise<Still> {
  const html = Buffer.from(textHtml(texts));
  const path = join(outDir, 'text.html');
  await writeFile(path, html);
  const picture = await drawFirstPage(texts, outDir);
  const extras: MadeRendition[] = [
    { key: 'text.html', path, contentType: 'text/html; charset=utf-8', sizeBytes: html.length },
  ];
  return { picture, extras, text: texts.text };
}

/**
 * Makes a picture of the first page of a text, Markdown, source code or table; `text.html`, a fragment for the
 * viewer; and the text itself. Throws NotDrawable for a text without characters.
 */
export const textStill: StillMaker = async ({ path, mime }, outDir) => {
  const { text, cutAt } = await readBeginning(path);
  if (text.trim() === '') throw new NotDrawable(sentence('the text is empty'));
  const flavour = flavourOf(text, mime);
  const table = flavour.kind === 'table' ? readTable(text, flavour.delimiter) : null;
  try {
    return await makeStill({ text, flavour, table, cutAt }, outDir);
  } catch (error) {
    if (isFaultOfTheMachine(error)) throw error;
    // A text is never damaged: what a parser cannot read is shown as plain text.
    return makeStill({ text, flavour: { kind: 'plain' }, table: null, cutAt }, outDir);
  }
};
