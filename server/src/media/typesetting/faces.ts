import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create, type Font, type Glyph } from 'fontkit';
import { InstallationFault } from '../faults.ts';
import { eastAsianGlyph } from './east-asian.ts';
import { outline } from './outlines.ts';

/**
 * Bundled typefaces, so that texts look the same on every machine, even without installed fonts. Glyphs become paths;
 * text never reaches an SVG as text.
 */
export type Face = 'regular' | 'bold' | 'mono';

const { resolve } = createRequire(import.meta.url);

const sources: Readonly<Record<Face, readonly [family: string, weight: number]>> = {
  regular: ['inter', 400],
  bold: ['inter', 600],
  mono: ['jetbrains-mono', 400],
};

/** Each family consists of parts, one per group of scripts. The first part that has a character is used. */
const parts = ['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'vietnamese'];

const fonts = new Map<string, Font>();

/** Opens a bundled font. An error here is never a fault of the file that is drawn. */
function openFace(name: string): Font {
  try {
    const font = create(readFileSync(resolve(name)));
    if (!('fonts' in font)) return font;
  } catch (error) {
    throw new InstallationFault(`${name} cannot be loaded`, { cause: error });
  }
  throw new InstallationFault(`${name} is a collection`);
}

function openPart(face: Face, part: string): Font {
  const [family, weight] = sources[face];
  const name = `@fontsource/${family}/files/${family}-${part}-${weight}-normal.woff2`;
  const known = fonts.get(name);
  if (known !== undefined) return known;
  const font = openFace(name);
  fonts.set(name, font);
  return font;
}

interface Drawn {
  font: Font;
  glyph: Glyph;
}

/** Scripts whose characters are two columns wide. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

const glyphs = new Map<string, Drawn | null>();

/** Returns the glyph of a character, or null if no bundled face has it. */
export function glyphOf(face: Face, codePoint: number): Drawn | null {
  const key = `${face} ${codePoint}`;
  let found = glyphs.get(key);
  if (found !== undefined) return found;
  found = null;
  for (const part of parts) {
    const font = openPart(face, part);
    if (!font.hasGlyphForCodePoint(codePoint)) continue;
    found = { font, glyph: font.glyphForCodePoint(codePoint) };
    break;
  }
  if (found === null && wide.test(String.fromCodePoint(codePoint))) found = eastAsianGlyph(codePoint);
  glyphs.set(key, found);
  return found;
}

/** Returns the width of a character as a fraction of the font size. */
export function widthOf(face: Face, character: string): number {
  // Two columns of the typeface in which columns count.
  if (face === 'mono' && wide.test(character)) return 1.2;
  const drawn = glyphOf(face, character.codePointAt(0) ?? 32);
  if (drawn !== null) return drawn.glyph.advanceWidth / drawn.font.unitsPerEm;
  return wide.test(character) ? 1.2 : 0.6;
}

/**
 * Returns path data of a text that starts at `x` on the baseline `y`. Draws a bar for a character without a glyph.
 */
export function pathOf(face: Face, text: string, size: number, x: number, y: number): string {
  let pen = x;
  let data = '';
  for (const character of text) {
    const drawn = glyphOf(face, character.codePointAt(0) ?? 32);
    const width = widthOf(face, character) * size;
    if (drawn !== null) data += outline(drawn.glyph, size / drawn.font.unitsPerEm, pen, y);
    else if (/[\p{L}\p{N}\p{S}\p{P}]/u.test(character)) {
      const [left, top] = [Math.round(pen + size * 0.08), Math.round(y - size * 0.6)];
      data += `M${left} ${top}h${Math.round(width - size * 0.16)}v${Math.round(size * 0.55)}h${-Math.round(width - size * 0.16)}Z`;
    }
    pen += width;
  }
  return data;
}

/** Returns whether the bundled faces have every character of a text. */
export function canDraw(face: Face, text: string): boolean {
  return [...text].every((character) => glyphOf(face, character.codePointAt(0) ?? 32) !== null);
}

/** Returns the width of a text in pixels. */
export function measure(face: Face, text: string, size: number): number {
  let width = 0;
  for (const character of text) width += widthOf(face, character);
  return width * size;
}
