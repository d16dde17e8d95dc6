import type { Font, Glyph } from 'fontkit';
import { type Direction, mirrored } from './directions.ts';
import { type Face, glyphOf, isInvisible, widthOf } from './faces.ts';

/** A glyph of a cluster, and how far right of and above its origin it is, as fractions of the font size. */
export interface PlacedGlyph {
  font: Font;
  glyph: Glyph;
  x: number;
  y: number;
}

/** What is drawn as one: a character, a letter in its form between others, a mark, or a ligature. */
export interface Cluster {
  /** Its characters in the order in which they are read. */
  text: string;
  /** Equal for clusters that look the same. */
  key: string;
  /** As a fraction of the font size. */
  width: number;
  glyphs: readonly PlacedGlyph[];
  /** Whether no bundled face has its character. */
  isMissing: boolean;
}

/** Characters that decide whether their neighbours join. */
const joiner = /[\u200c\u200d]/u;

const singles = new Map<string, Cluster>();

/** Returns a character that does not depend on its neighbours. */
function singleOf(face: Face, character: string): Cluster {
  const key = `${face} ${character}`;
  const known = singles.get(key);
  if (known !== undefined) return known;
  const drawn = glyphOf(face, character.codePointAt(0) ?? 32);
  const cluster: Cluster = {
    text: character,
    key,
    width: widthOf(face, character),
    glyphs: drawn === null ? [] : [{ font: drawn.font, glyph: drawn.glyph, x: 0, y: 0 }],
    isMissing: drawn === null && /[\p{L}\p{N}\p{S}\p{P}]/u.test(character),
  };
  singles.set(key, cluster);
  return cluster;
}

/** A font, and the same one for joining letters (faces.ts). */
interface JoinedFont {
  font: Font;
  joining: Font;
}

/** Characters in a row, and the font that joins them; null if they are drawn one by one. */
interface Piece {
  joined: JoinedFont | null;
  text: string;
}

function piecesOf(face: Face, text: string): Piece[] {
  const pieces: Piece[] = [];
  for (const character of text) {
    const last = pieces.at(-1);
    if (last !== undefined && last.joined !== null && joiner.test(character)) {
      last.text += character;
      continue;
    }
    if (isInvisible(character)) continue;
    const drawn = glyphOf(face, character.codePointAt(0) ?? 32);
    const joined =
      drawn === null || drawn.joining === null ? null : { font: drawn.font, joining: drawn.joining };
    if (last !== undefined && last.joined?.font === joined?.font) last.text += character;
    else pieces.push({ joined, text: character });
  }
  return pieces;
}

interface Shaped {
  glyph: Glyph;
  /** None for a part of the letter before it, such as its dots. */
  characters: string[];
  advance: number;
  /** How far its origin and its outline are from the left edge of the piece, in font units. */
  pen: number;
  x: number;
  y: number;
}

/** Joins letters. fontkit fails where the font has no anchor for a mark; the marks of such a text stay at the origin. */
function join(font: Font, text: string): Pick<ReturnType<Font['layout']>, 'glyphs' | 'positions'> {
  try {
    return font.layout(text, undefined, undefined, undefined, 'rtl');
  } catch {
    return font.layout(text, { mark: false, mkmk: false }, undefined, undefined, 'rtl');
  }
}

/** Returns the glyphs of a piece in the order in which they are read, with the characters of each. */
function shape({ font, joining }: JoinedFont, text: string): Shaped[] {
  const { glyphs, positions } = join(joining, text);
  let pen = 0;
  const shaped = glyphs.map(({ id, codePoints }, index): Shaped => {
    const { xAdvance: advance = 0, xOffset = 0, yOffset: y = 0 } = positions[index] ?? {};
    const characters = codePoints.map((codePoint) => String.fromCodePoint(codePoint));
    const at = { glyph: font.getGlyph(id), characters, advance, pen, x: pen + xOffset, y };
    pen += advance;
    return at;
  });
  shaped.reverse();
  // fontkit draws joiners as spaces, and reports a space as their character.
  const characters = [...text];
  if (shaped.reduce((sum, { characters: own }) => sum + own.length, 0) === characters.length)
    for (const part of shaped) part.characters = characters.splice(0, part.characters.length);
  return shaped;
}

/**
 * Returns the clusters of letters that join, from left to right. Marks take no space and are clusters of their own before
 * their letters, because PDF readers reverse the order of clusters, and also that of the characters within them.
 */
function joinedClusters(face: Face, joined: JoinedFont, text: string): Cluster[] {
  const { font } = joined;
  const groups: Shaped[][] = [];
  for (const part of shape(joined, text)) {
    const last = groups.at(-1);
    if (part.characters.length === 0 && last !== undefined) last.push(part);
    else groups.push([part]);
  }
  const em = font.unitsPerEm;
  const clusters = groups.map((group): Cluster => {
    const origin = Math.min(...group.map(({ pen }) => pen));
    const glyphs = group.map(({ glyph, x, y }) => ({ font, glyph, x: (x - origin) / em, y: y / em }));
    const text = group.flatMap(({ characters }) => characters).join('');
    const width = group.reduce((sum, { advance }) => sum + advance, 0) / em;
    const form = glyphs.map(({ glyph, x, y }) => `${glyph.id} ${x} ${y}`).join(' ');
    return { text, key: `${face} ${text} ${width} ${form}`, width, glyphs, isMissing: false };
  });
  return clusters.reverse();
}

/** Returns the clusters of a run from left to right. Characters without a form of their own are left out. */
export function clustersOf(face: Face, run: string, direction: Direction): Cluster[] {
  if (direction === 'ltr') {
    const characters = [...run].filter((character) => !isInvisible(character));
    return characters.map((character) => singleOf(face, character));
  }
  return piecesOf(face, run)
    .reverse()
    .flatMap(({ joined, text }) =>
      joined === null
        ? [...text].reverse().map((character) => singleOf(face, mirrored(character)))
        : joinedClusters(face, joined, text),
    );
}
