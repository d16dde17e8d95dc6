import { marked, type Token, type Tokens } from 'marked';
import { directionOfText } from '../typesetting/directions.ts';
import type { Face } from '../typesetting/faces.ts';
import type { Page, Run } from '../typesetting/page.ts';
import { colouredRuns, highlighted } from './highlighted.ts';

const INK = '#1f2328';
const FAINT = '#59636e';
const LINK = '#0969da';
const PANEL = '#f3f4f6';
const RULE = '#d1d9e0';
const SIZE = 25;
/** Lists and quotations nested more deeply are left out. */
const DEEPEST = 6;

const headingSizes = [0, 54, 42, 34, 29, 26, 25];

/** Returns the runs of inline tokens, with bold, code and links marked. */
function runsOf(tokens: readonly Token[], face: Face, fill: string): Run[] {
  return tokens.flatMap((token): Run[] => {
    if (token.type === 'html') return [];
    if (token.type === 'br') return [{ text: '\n', face, fill }];
    if (token.type === 'codespan') return [{ text: 'text' in token ? token.text : '', face: 'mono', fill }];
    const inner: Face = token.type === 'strong' && face !== 'mono' ? 'bold' : face;
    const colour = token.type === 'link' ? LINK : fill;
    if ('tokens' in token && Array.isArray(token.tokens)) return runsOf(token.tokens, inner, colour);
    const text = 'text' in token && typeof token.text === 'string' ? token.text : '';
    return [{ text: text.replace(/\s*\n/g, ' '), face: inner, fill: colour }];
  });
}

interface Place {
  left: number;
  right: number;
  fill: string;
  depth: number;
}

function drawCode(page: Page, { text, lang }: Tokens.Code, { left, right }: Place): void {
  const runs = colouredRuns(highlighted(text, lang?.split(/\s/)[0] ?? null));
  page.space(14);
  const { top, bottom } = page.set({
    runs: runs.map((run) => ({ ...run, face: 'mono' })),
    size: 20,
    left: left + 20,
    right: right - 20,
    cut: 'anywhere',
  });
  page.fill(left, top - 14, { width: right - left, height: bottom - top + 28 }, PANEL);
  page.space(14);
}

function drawList(page: Page, { items, ordered, start }: Tokens.List, place: Place): void {
  for (const [index, item] of items.entries()) {
    if (page.isFull()) return;
    const mark = ordered
      ? `${Number(start === '' ? 1 : start) + index}.`
      : item.task
        ? item.checked
          ? '☑'
          : '☐'
        : '•';
    const { y } = page;
    const direction = directionOfText(item.text);
    page.set({
      runs: [{ text: mark, face: 'regular', fill: FAINT }],
      size: SIZE,
      left: place.left + 8,
      right: place.right - 8,
      cut: 'words',
      direction,
    });
    page.y = y;
    const sides = direction === 'rtl' ? { right: place.right - 46 } : { left: place.left + 46 };
    drawTokens(page, item.tokens, { ...place, ...sides, depth: place.depth + 1 }, 8);
  }
}

function drawTable(page: Page, { header, rows }: Tokens.Table, { left, right, fill }: Place): void {
  const column = (right - left) / Math.max(1, header.length);
  for (const [index, row] of [header, ...rows].entries()) {
    const { y } = page;
    let lowest = y;
    for (const [at, cell] of row.entries()) {
      page.y = y;
      const x = left + at * column;
      const runs = runsOf(cell.tokens, index === 0 ? 'bold' : 'regular', fill);
      page.set({ runs, size: 22, left: x + 6, right: x + column - 10, cut: 'words' });
      lowest = Math.max(lowest, page.y);
    }
    page.y = lowest + 12;
    page.fill(left, Math.round(lowest + 4), { width: right - left, height: index === 0 ? 2 : 1 }, RULE);
    if (page.isFull()) return;
  }
}

function drawTokens(page: Page, tokens: readonly Token[], place: Place, gap: number): void {
  if (place.depth > DEEPEST) return;
  const { left, right, fill } = place;
  for (const token of tokens) {
    if (page.isFull()) return;
    switch (token.type) {
      case 'heading': {
        const { depth, tokens: inner = [] } = token as Tokens.Heading;
        const size = headingSizes[depth] ?? SIZE;
        page.space(depth < 3 ? 14 : 8);
        const { bottom } = page.set({
          runs: runsOf(inner, 'bold', INK),
          size,
          left,
          right,
          cut: 'words',
          leading: 1.3,
        });
        if (depth < 3) page.fill(left, Math.round(bottom + 6), { width: right - left, height: 2 }, RULE);
        page.space(depth < 3 ? 26 : gap);
        break;
      }
      case 'code':
        drawCode(page, token as Tokens.Code, place);
        page.space(gap);
        break;
      case 'list':
        drawList(page, token as Tokens.List, place);
        page.space(gap);
        break;
      case 'table':
        drawTable(page, token as Tokens.Table, place);
        page.space(gap);
        break;
      case 'blockquote': {
        const { y } = page;
        drawTokens(
          page,
          (token as Tokens.Blockquote).tokens,
          { ...place, left: left + 30, fill: FAINT, depth: place.depth + 1 },
          gap,
        );
        page.fill(left, y, { width: 6, height: Math.max(0, page.y - y - gap) }, RULE);
        break;
      }
      case 'hr':
        page.fill(left, page.y + 10, { width: right - left, height: 4 }, RULE);
        page.space(24 + gap);
        break;
      case 'space':
      case 'html':
      case 'def':
        break;
      default: {
        const runs = runsOf([token], 'regular', fill);
        if (runs.every(({ text }) => text.trim() === '')) break;
        page.set({ runs, size: SIZE, left, right, cut: 'words' });
        page.space(gap);
      }
    }
  }
}

/** Draws the start of a Markdown text on a page. */
export function drawMarkdown(page: Page, text: string, left: number, right: number): void {
  drawTokens(page, marked.lexer(text), { left, right, fill: INK, depth: 0 }, 20);
}
