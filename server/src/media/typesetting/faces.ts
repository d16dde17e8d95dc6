import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create, type Font, type Glyph } from 'fontkit';
import { InstallationFault } from '../faults.ts';
import { eastAsianGlyph } from './east-asian.ts';

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

/** Returns a function that opens each font once. */
function openingOnce(open: (name: string) => Font): (name: string) => Font {
  const opened = new Map<string, Font>();
  return (name) => {
    const font = opened.get(name) ?? open(name);
    opened.set(name, font);
    return font;
  };
}

const openDrawing = openingOnce(openFace);

/**
 * Opens a font whose layouts have the characters of each glyph. Otherwise fontkit keeps a glyph with the characters with
 * which it first met it: others for letters of the same form, and none for a part of another letter.
 */
const openJoining = openingOnce((name) => {
  const font = openFace(name);
  const getGlyph = font.getGlyph.bind(font);
  font.getGlyph = (id, codePoints = []) =>
    Object.create(getGlyph(id, codePoints), { codePoints: { value: codePoints } });
  return font;
});

const fileOf = (family: string, part: string, weight: number) =>
  `@fontsource/${family}/files/${family}-${part}-${weight}-normal.woff2`;

interface Drawn {
  font: Font;
  glyph: Glyph;
  /** The same font for joining letters, if the form of the glyph depends on its neighbours. */
  joining: Font | null;
}

/** Scripts whose characters are two columns wide. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Scripts whose letters join or have marks: Hebrew and Arabic. */
const joined = /[\u0590-\u06ff\u0750-\u077f\u0870-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

const glyphs = new Map<string, Drawn | null>();

/** Returns the glyph of a character, or null if no bundled face has it. */
export function glyphOf(face: Face, codePoint: number): Drawn | null {
  const key = `${face} ${codePoint}`;
  let found = glyphs.get(key);
  if (found !== undefined) return found;
  found = findGlyph(face, codePoint);
  glyphs.set(key, found);
  return found;
}

function findGlyph(face: Face, codePoint: number): Drawn | null {
  const [family, weight] = sources[face];
  for (const part of parts) {
    const font = openDrawing(fileOf(family, part, weight));
    if (font.hasGlyphForCodePoint(codePoint))
      return { font, glyph: font.glyphForCodePoint(codePoint), joining: null };
  }
  const character = String.fromCodePoint(codePoint);
  if (joined.test(character)) {
    for (const script of ['arabic', 'hebrew']) {
      const file = fileOf(`noto-sans-${script}`, script, weight);
      const font = openDrawing(file);
      if (font.hasGlyphForCodePoint(codePoint))
        return { font, glyph: font.glyphForCodePoint(codePoint), joining: openJoining(file) };
    }
  }
  const found = wide.test(character) ? eastAsianGlyph(codePoint) : null;
  return found === null ? null : { ...found, joining: null };
}

/** Returns the width of a character as a fraction of the font size. */
export function widthOf(face: Face, character: string): number {
  // Two columns of the typeface in which columns count.
  if (face === 'mono' && wide.test(character)) return 1.2;
  const drawn = glyphOf(face, character.codePointAt(0) ?? 32);
  if (drawn !== null) return drawn.glyph.advanceWidth / drawn.font.unitsPerEm;
  return wide.test(character) ? 1.2 : 0.6;
}

/** Joiners, marks of direction, and selectors of variants, which are never drawn. */
const invisible = /^[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]$|^\p{Variation_Selector}$/u;

/** Returns whether a character is never drawn itself. */
export const isInvisible = (character: string): boolean => invisible.test(character);

/** Returns whether the bundled faces have every character of a text that is drawn. */
export function canDraw(face: Face, text: string): boolean {
  return [...text].every(
    (character) => isInvisible(character) || glyphOf(face, character.codePointAt(0) ?? 32) !== null,
  );
}
