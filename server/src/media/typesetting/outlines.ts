import type { Font, Glyph } from 'fontkit';

/** A glyph with more drawing commands is left out; characters of real fonts have far fewer. */
const MOST_COMMANDS = 10_000;

/** Rounds to a tenth of a pixel. */
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

/** Returns the commands that draw a glyph, in font units; none if its outline is missing or damaged. */
export function commandsOf(glyph: Glyph): Glyph['path']['commands'] {
  let commands: Glyph['path']['commands'];
  try {
    commands = glyph.path.commands;
  } catch {
    return [];
  }
  const isDrawn =
    commands.length <= MOST_COMMANDS && commands.every(({ args }) => args.every(Number.isFinite));
  return isDrawn ? commands : [];
}

/**
 * Returns SVG path data of a glyph with its origin at `x`, `y`, in pixels. `scale` is the number of pixels per font
 * unit. Returns '' for a glyph whose outline is missing or damaged.
 */
export function outline(glyph: Glyph, scale: number, x: number, y: number): string {
  let data = '';
  for (const { command, args } of commandsOf(glyph)) {
    const points = args.map((value, index) =>
      // The y axis of a font points up.
      coordinate(index % 2 === 0 ? x + value * scale : y - value * scale),
    );
    data += `${letters[command]}${points.join(' ')}`;
  }
  return data;
}

/** Path data of a row of glyphs, and its width in pixels. */
export interface Line {
  data: string;
  width: number;
}

/** Lays out a text from `x` on the baseline `y` with the font's own ligatures and kerning. */
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

/** Falls back to glyphs without kerning and ligatures if a layout table of the font is damaged. */
function shape(font: Font, text: string): Pick<ReturnType<Font['layout']>, 'glyphs' | 'positions'> {
  try {
    return font.layout(text);
  } catch {
    return { glyphs: font.glyphsForString(text), positions: [] };
  }
}
