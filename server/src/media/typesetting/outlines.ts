import type { Font, Glyph } from 'fontkit';

/** A glyph with more drawing commands than this is left out: no character of a real font has nearly as many. */
const MOST_COMMANDS = 10_000;

/** One decimal is a tenth of a pixel. */
function coordinate(value: number): string {
  return String(Math.round(value * 10) / 10);
}

const letters = {
  moveTo: 'M',
  lineTo: 'L',
  quadraticCurveTo: 'Q',
  bezierCurveTo: 'C',
  closePath: 'Z',
} as const;

/**
 * SVG path data of a glyph whose origin stands at `x`, `y`, both in pixels. `scale` is pixels for each unit of the font.
 * Empty for a glyph that has no outline or a damaged one.
 */
export function outline(glyph: Glyph, scale: number, x: number, y: number): string {
  let commands: Glyph['path']['commands'];
  try {
    commands = glyph.path.commands;
  } catch {
    return '';
  }
  if (commands.length > MOST_COMMANDS) return '';
  let data = '';
  for (const { command, args } of commands) {
    if (!args.every(Number.isFinite)) return '';
    const points = args.map((value, index) =>
      // In a font the y axis points up.
      coordinate(index % 2 === 0 ? x + value * scale : y - value * scale),
    );
    data += `${letters[command]}${points.join(' ')}`;
  }
  return data;
}

/** Path data of some glyphs in a row, and how wide it is in pixels. */
export interface Line {
  data: string;
  width: number;
}

/** Lays out a text as the font itself asks, with its ligatures and kerning, from `x` on the baseline `y`. */
export function lineOf(font: Font, text: string, size: number, x: number, y: number): Line {
  const scale = size / font.unitsPerEm;
  let pen = x;
  let data = '';
  const { glyphs, positions } = shape(font, text);
  for (const [index, glyph] of glyphs.entries()) {
    const { xAdvance = glyph.advanceWidth, xOffset = 0, yOffset = 0 } = positions[index] ?? {};
    data += outline(glyph, scale, pen + xOffset * scale, y - yOffset * scale);
    pen += (Number.isFinite(xAdvance) ? xAdvance : 0) * scale;
  }
  return { data, width: pen - x };
}

/** A damaged layout table of a font must not hide its letters: they then stand one after the other. */
function shape(font: Font, text: string): Pick<ReturnType<Font['layout']>, 'glyphs' | 'positions'> {
  try {
    return font.layout(text);
  } catch {
    return { glyphs: font.glyphsForString(text), positions: [] };
  }
}
