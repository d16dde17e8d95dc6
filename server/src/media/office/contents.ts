import { readParts } from './parts.ts';

/** What can be read from a package without rendering it. */
export interface Contents {
  /** The embedded thumbnail or cover; JPEG or PNG. */
  thumbnail: Buffer | null;
  text: string;
}

/** The parts of OOXML, ODF and EPUB packages that contain text. */
const wordParts =
  /^(?:word\/document\.xml|xl\/sharedStrings\.xml|ppt\/slides\/slide\d+\.xml|content\.xml|.*\.x?html?)$/;
const thumbnailParts = /^(?:docProps\/thumbnail\.(?:jpe?g|png)|Thumbnails\/thumbnail\.png)$/i;
const coverParts = /(?:^|\/)[^/]*cover[^/]*\.(?:jpe?g|png)$/i;

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** Elements that end a word or a line. */
const endings =
  /<(?:\/(?:w:p|a:p|si|text:p|text:h|table:table-cell|p|h[1-6]|li|td|div|title)|w:br|w:tab|text:tab|text:line-break|br)\b[^>]*>/g;

/** Returns the text of some XML. Resolves no external entities; unknown entities are left unchanged. */
function wordsOf(xml: string): string {
  return xml
    .replace(endings, '\n')
    .replace(/<(script|style)\b[^>]*>[^<]*<\/\1>/g, '')
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,5}));/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return entities[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : ' ';
    })
    .replace(/[^\P{Cc}\n]/gu, ' ')
    .replace(/[ \n]*\n[ \n]*/g, '\n')
    .trim();
}

/** Sorts slides and chapters by their numbers. */
const inOrder = new Intl.Collator('en', { numeric: true });

/** Reads the text and thumbnail of an OOXML, ODF or EPUB file. Throws BrokenFile for a damaged one. */
export async function readContents(path: string, mostText: number): Promise<Contents> {
  const parts = await readParts(
    path,
    (name) => wordParts.test(name) || thumbnailParts.test(name) || coverParts.test(name),
  );
  const names = [...parts.keys()].sort(inOrder.compare);
  let text = '';
  for (const name of names.filter((part) => wordParts.test(part))) {
    if (text.length >= mostText) break;
    text += `${wordsOf((parts.get(name) ?? Buffer.alloc(0)).toString('utf8', 0, mostText * 16))}\n`;
  }
  const picture =
    names.find((name) => thumbnailParts.test(name)) ??
    names
      .filter((name) => coverParts.test(name))
      .sort((a, b) => (parts.get(b)?.length ?? 0) - (parts.get(a)?.length ?? 0))[0];
  return {
    thumbnail: picture === undefined ? null : (parts.get(picture) ?? null),
    text: text.slice(0, mostText).trim(),
  };
}
