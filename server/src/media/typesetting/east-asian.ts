import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create, type Font, type Glyph } from 'fontkit';
import { InstallationFault } from '../faults.ts';

/** The forms of East Asian characters: Japanese, simplified and traditional Chinese, and Korean. */
export type Region = 'jp' | 'sc' | 'tc' | 'kr';

const regions: readonly Region[] = ['jp', 'sc', 'tc', 'kr'];

/** The weight of regular text. The packages have a variable font, whose outlines are those of the thinnest weight. */
const WEIGHT = 400;

const { resolve } = createRequire(import.meta.url);

interface Point {
  x: number;
  y: number;
  endContour: boolean;
  copy(): Point;
}

/**
 * What fontkit knows of a variable font in WOFF2. It varies outlines of other containers only, so this module does it
 * with fontkit's own parts.
 */
interface VariableFont extends Font {
  variationCoords: number[] | null;
  _variationProcessor: { transformPoints(glyph: number, points: Point[]): void } | null;
  _transformedGlyphs?: readonly { points?: Point[]; components?: readonly { glyphID: number }[] }[];
}

/** A part of a typeface, with the characters it has. */
interface Part {
  name: string;
  ranges: readonly (readonly [from: number, to: number])[];
  opened: { font: VariableFont; varied: Set<number> } | null;
}

const faces = new Map<Region, Part[]>();

/** Reads what a package says about its parts: `U+3042,U+3044-3046` for each. */
function partsOf(region: Region): Part[] {
  const known = faces.get(region);
  if (known !== undefined) return known;
  const root = `@fontsource-variable/noto-sans-${region}`;
  let listed: Record<string, string>;
  try {
    listed = JSON.parse(readFileSync(resolve(`${root}/unicode.json`), 'utf8'));
  } catch (error) {
    throw new InstallationFault(`${root} cannot be loaded`, { cause: error });
  }
  const parts = Object.entries(listed).map(([key, text]) => ({
    name: `${root}/files/noto-sans-${region}-${key.replace(/[[\]]/g, '')}-wght-normal.woff2`,
    ranges: text.split(',').map((range) => {
      const [from = '', to = from] = range.trim().replace(/^U\+/i, '').split('-');
      return [Number.parseInt(from, 16), Number.parseInt(to, 16)] as const;
    }),
    opened: null,
  }));
  faces.set(region, parts);
  return parts;
}

function open(part: Part): NonNullable<Part['opened']> {
  if (part.opened !== null) return part.opened;
  let font: ReturnType<typeof create>;
  try {
    font = create(readFileSync(resolve(part.name)));
  } catch (error) {
    throw new InstallationFault(`${part.name} cannot be loaded`, { cause: error });
  }
  if ('fonts' in font) throw new InstallationFault(`${part.name} is a collection`);
  // The members exist in every font of fontkit, which declares them as private.
  const variable = font as VariableFont;
  variable.variationCoords = [WEIGHT];
  part.opened = { font: variable, varied: new Set() };
  return part.opened;
}

/** Moves the points of a glyph to where they are in regular text, once, and those of glyphs it consists of. */
function vary({ font, varied }: NonNullable<Part['opened']>, id: number): void {
  if (varied.has(id)) return;
  varied.add(id);
  const { points, components = [] } = font._transformedGlyphs?.[id] ?? {};
  for (const { glyphID } of components) vary({ font, varied }, glyphID);
  const [start] = points ?? [];
  if (points === undefined || start === undefined) return;
  // Four points that stand for the metrics of the glyph follow those of its outline.
  const metrics = Array.from({ length: 4 }, () => Object.assign(start.copy(), { endContour: true }));
  font._variationProcessor?.transformPoints(id, [...points, ...metrics]);
}

/** Returns the glyph of a character in the form of a region, otherwise that of another one; null if none has it. */
export function eastAsianGlyph(codePoint: number, first: Region = 'jp'): { font: Font; glyph: Glyph } | null {
  for (const region of [first, ...regions.filter((other) => other !== first)]) {
    for (const part of partsOf(region)) {
      if (!part.ranges.some(([from, to]) => codePoint >= from && codePoint <= to)) continue;
      const opened = open(part);
      if (!opened.font.hasGlyphForCodePoint(codePoint)) continue;
      const glyph = opened.font.glyphForCodePoint(codePoint);
      vary(opened, glyph.id);
      return { font: opened.font, glyph };
    }
  }
  return null;
}
