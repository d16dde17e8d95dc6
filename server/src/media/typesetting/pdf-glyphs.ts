import type { PDFDocument, PDFPage, PDFRef } from '@cantoo/pdf-lib';
import type { Cluster, PlacedGlyph } from './clusters.ts';
import { commandsOf } from './outlines.ts';

/** Units of a line's height in the fonts of a document. */
const UNITS = 1000;
/** A code of a simple font is a byte. */
const MOST_IN_FONT = 256;

const pair = (x: number, y: number) => `${Math.round(x)} ${Math.round(y)}`;

/** Returns a glyph as operators of a path, in the units of the fonts of a document. */
function pathOf({ font, glyph, x: left, y: bottom }: PlacedGlyph): string[] {
  let [x, y] = [0, 0];
  const scale = UNITS / font.unitsPerEm;
  return commandsOf(glyph).map(({ command, args }) => {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = args.map(
      (value, index) => value * scale + (index % 2 === 0 ? left : bottom) * UNITS,
    );
    const [fromX, fromY] = [x, y];
    switch (command) {
      case 'moveTo':
      case 'lineTo':
        [x, y] = [a, b];
        return `${pair(a, b)} ${command === 'moveTo' ? 'm' : 'l'}`;
      case 'quadraticCurveTo': {
        [x, y] = [c, d];
        // The same curve with two control points.
        const first = pair(fromX + ((a - fromX) * 2) / 3, fromY + ((b - fromY) * 2) / 3);
        const second = pair(c + ((a - c) * 2) / 3, d + ((b - d) * 2) / 3);
        return `${first} ${second} ${pair(c, d)} c`;
      }
      case 'bezierCurveTo':
        [x, y] = [e, f];
        return `${pair(a, b)} ${pair(c, d)} ${pair(e, f)} c`;
      default:
        return 'h';
    }
  });
}

/** Returns what is drawn of a cluster: its glyphs, or a box if no bundled face has its character. */
function drawingOf({ glyphs, isMissing, width }: Cluster): string {
  if (isMissing) return `80 50 ${Math.round(width * UNITS) - 160} 550 re f`;
  const path = glyphs.flatMap(pathOf);
  return path.length === 0 ? '' : `${path.join('\n')}\nf`;
}

/** A cluster in a font of the document: the font's number and the code in it. */
interface Code {
  font: number;
  hex: string;
}

/** A font that is filled while the document is written. */
interface OpenFont {
  ref: PDFRef;
  glyphs: { ref: PDFRef; width: number; text: string }[];
}

/** Characters of the bundled typefaces in a document. */
export interface PdfGlyphs {
  /** Writes clusters from left to right at a place of a page, in points from its lower left corner. */
  write(page: PDFPage, line: readonly Cluster[], at: { x: number; y: number; size: number }): void;
  /** Completes the fonts. Call it once, before the document is saved. */
  finish(): void;
}

/**
 * Opens fonts that have each glyph once, however often the document shows it, so that a long text in any script stays
 * small. Its text can be searched and copied.
 */
export async function openPdfGlyphs(document: PDFDocument): Promise<PdfGlyphs> {
  const { PDFName, PDFOperator, PDFOperatorNames } = await import('@cantoo/pdf-lib');
  const { context } = document;
  const fonts: OpenFont[] = [];
  const codes = new Map<string, Code>();
  const named = new Map<PDFPage, Set<number>>();

  const embed = (cluster: Cluster): PDFRef => {
    const width = Math.round(cluster.width * UNITS);
    return context.register(context.flateStream(`${width} 0 d0\n${drawingOf(cluster)}`));
  };
  const codeOf = (cluster: Cluster): Code => {
    const known = codes.get(cluster.key);
    if (known !== undefined) return known;
    let font = fonts.at(-1);
    if (font === undefined || font.glyphs.length === MOST_IN_FONT) {
      font = { ref: context.nextRef(), glyphs: [] };
      fonts.push(font);
    }
    const hex = font.glyphs.length.toString(16).padStart(2, '0');
    const { text, width } = cluster;
    font.glyphs.push({ ref: embed(cluster), width: Math.round(width * UNITS), text });
    const code = { font: fonts.length - 1, hex };
    codes.set(cluster.key, code);
    return code;
  };
  const nameFont = (page: PDFPage, font: number): string => {
    const known = named.get(page) ?? new Set();
    named.set(page, known);
    const opened = fonts[font];
    if (!known.has(font) && opened !== undefined)
      page.node.setFontDictionary(PDFName.of(`G${font}`), opened.ref);
    known.add(font);
    return `G${font}`;
  };
  /** Says which characters each code is. */
  const meaningOf = ({ glyphs }: OpenFont): string => {
    const pairs = glyphs.map(
      ({ text }, code) =>
        `<${code.toString(16).padStart(2, '0')}> <${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`,
    );
    const blocks = Array.from({ length: Math.ceil(pairs.length / 100) }, (_, index) => {
      const block = pairs.slice(index * 100, index * 100 + 100);
      return `${block.length} beginbfchar\n${block.join('\n')}\nendbfchar`;
    });
    return [
      '/CIDInit /ProcSet findresource begin 12 dict begin begincmap',
      '/CMapName /Glyphs def /CMapType 2 def',
      '1 begincodespacerange <00> <ff> endcodespacerange',
      ...blocks,
      'endcmap CMapName currentdict /CMap defineresource pop end end',
    ].join('\n');
  };

  return {
    write(page, line, { x, y, size }) {
      const runs: { font: number; hex: string[] }[] = [];
      for (const cluster of line) {
        const { font, hex } = codeOf(cluster);
        const last = runs.at(-1);
        if (last?.font === font) last.hex.push(hex);
        else runs.push({ font, hex: [hex] });
      }
      const shown = runs.map(({ font, hex }) => `/${nameFont(page, font)} ${size} Tf <${hex.join('')}> Tj`);
      // One operator for the line: an object for each character would take hundreds of bytes.
      page.pushOperators(PDFOperator.of(PDFOperatorNames.EndText, [`BT ${x} ${y} Td ${shown.join(' ')}`]));
    },
    finish() {
      for (const font of fonts) {
        const { ref, glyphs } = font;
        const description = {
          Type: 'Font',
          Subtype: 'Type3',
          FontBBox: [0, 0, 0, 0],
          FontMatrix: [1 / UNITS, 0, 0, 1 / UNITS, 0, 0],
          CharProcs: Object.fromEntries(glyphs.map(({ ref }, code) => [`g${code}`, ref])),
          Encoding: { Type: 'Encoding', Differences: [0, ...glyphs.map((_, code) => `g${code}`)] },
          FirstChar: 0,
          LastChar: glyphs.length - 1,
          Widths: glyphs.map(({ width }) => width),
          Resources: {},
          ToUnicode: context.register(context.flateStream(meaningOf(font))),
        };
        context.assign(ref, context.obj(description));
      }
    },
  };
}
