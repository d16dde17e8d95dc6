import type { PDFiumLibrary } from '@hyzyla/pdfium';
import { eastAsianGlyph, type Region } from '../typesetting/east-asian.ts';
import { type StoredGlyph, trueTypeOf } from '../typesetting/truetype.ts';

/** More characters than documents have; each takes about two milliseconds. */
const MOST_CHARACTERS = 5000;

/** The character sets of Windows by which PDFium asks for fonts that a document does not contain. */
const regionOf = new Map<number, Region>([
  [128, 'jp'],
  [129, 'kr'],
  [130, 'kr'],
  [134, 'sc'],
  [136, 'tc'],
]);

/** The members of PDFium that fonts need; they exist at run time but are declared private. */
interface Module {
  readonly HEAPU8: Uint8Array;
  readonly wasmExports: { readonly __indirect_function_table: WebAssembly.Table };
  _FPDF_GetDefaultSystemFontInfo(): number;
  _FPDF_SetSystemFontInfo(info: number): void;
}

type Call = (...values: number[]) => number;

/**
 * A WebAssembly module that exports two functions of JavaScript with the types that PDFium calls them with: seven
 * numbers and five numbers.
 */
const callable = Buffer.from(
  `0061736d01000000 0115 02 60077f7f7f7f7f7f7f017f 60057f7f7f7f7f017f 020d02 01650161 0000 01650162 0001 070902 0161 0000 0162 0001`.replaceAll(
    ' ',
    '',
  ),
  'hex',
);

/** Positions in FPDF_SYSFONTINFO: a version, and eight functions. */
const MAP_FONT = 12;
const GET_FONT_DATA = 20;
const INFO_BYTES = 36;

/** Returns a font with the characters of a text, in the forms of a region. */
function fontOf(text: string, region: Region): Buffer {
  const characters = [...new Set(text)].slice(0, MOST_CHARACTERS);
  const glyphs = characters.flatMap((character): StoredGlyph[] => {
    const codePoint = character.codePointAt(0) ?? 0;
    const found = eastAsianGlyph(codePoint, region);
    if (found === null) return [];
    const { commands } = found.glyph.path;
    return [{ codePoint, advance: found.glyph.advanceWidth, commands }];
  });
  return trueTypeOf(glyphs);
}

/**
 * Answers PDFium when it looks for an East Asian font that a document does not contain: with one that has the
 * characters of `text`, or with none. Returns the regions that were asked for.
 */
export function offerFonts(library: PDFiumLibrary, text: string | null): ReadonlySet<Region> {
  const { module } = library as unknown as { module: Module };
  const asked = new Set<Region>();
  const fonts = new Map<number, Buffer>();
  const mapFont: Call = (_info, _weight, _italic, charset = 0) => {
    const region = regionOf.get(charset);
    if (region === undefined) return 0;
    asked.add(region);
    if (text === null) return 0;
    if (!fonts.has(charset)) fonts.set(charset, fontOf(text, region));
    return charset;
  };
  const getFontData: Call = (_info, handle = 0, table, at = 0, size = 0) => {
    const font = table === 0 ? fonts.get(handle) : undefined;
    if (font === undefined) return 0;
    if (at !== 0 && size >= font.length) module.HEAPU8.set(font, at);
    return font.length;
  };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(callable), {
    e: { a: mapFont, b: getFontData },
  });
  // The functions of PDFium's own list of fonts, which is empty, are replaced in its table of functions.
  const info = module._FPDF_GetDefaultSystemFontInfo();
  if (info === 0) return asked;
  const fields = new DataView(module.HEAPU8.buffer, info, INFO_BYTES);
  module.wasmExports.__indirect_function_table.set(fields.getUint32(MAP_FONT, true), exports.a);
  module.wasmExports.__indirect_function_table.set(fields.getUint32(GET_FONT_DATA, true), exports.b);
  for (let at = 4; at < INFO_BYTES; at += 4) {
    if (at !== MAP_FONT && at !== GET_FONT_DATA) fields.setUint32(at, 0, true);
  }
  module._FPDF_SetSystemFontInfo(info);
  return asked;
}
