import { readFile, stat } from 'node:fs/promises';
import { create, type Font } from 'fontkit';
import { sentence } from '../../platform/language/sentence.ts';
import { asFileFault, BrokenFile, NotDrawable, type Still, type StillMaker, tooLarge } from '../still.ts';
import { type Line, lineOf, outline } from '../typesetting/outlines.ts';
import { measure, pathOf } from '../typesetting/set-text.ts';
import { drawSheet } from '../typesetting/sheet.ts';

/** Size limit; the largest fonts, with all Chinese characters in many weights, have half of this. */
const MOST_BYTES = 128 * 1024 ** 2;

const WIDTH = 1600;
const MARGIN = 90;
const ROOM = WIDTH - 2 * MARGIN;
const INK = '#16181d';
const FAINT = '#7b818c';
const RULE = '#e3e5e9';

/** Sample sentences and characters by script. The first script that a font covers completely is used. */
const scripts: readonly { rows: readonly string[]; pangram: string }[] = [
  {
    rows: [
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
      'abcdefghijklmnopqrstuvwxyz',
      '0123456789 & ! ? @ # % ( ) { } [ ] * / + =',
    ],
    pangram: 'The quick brown fox jumps over the lazy dog',
  },
  {
    rows: ['АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЭЮЯ', 'абвгдежзиклмнопрстуфхцчшщэюя'],
    pangram: 'Съешь ещё этих мягких французских булок',
  },
  {
    rows: ['ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ', 'αβγδεζηθικλμνξοπρστυφχψω'],
    pangram: 'Ξεσκεπάζω την ψυχοφθόρα βδελυγμία',
  },
  { rows: ['אבגדהוזחטיכלמנסעפצקרשת'], pangram: 'דג סקרן שט בים מאוכזב ולפתע מצא חברה' },
  { rows: ['ابتثجحخدذرزسشصضطظعغفقكلمنهوي'], pangram: 'نص حكيم له سر قاطع وذو شأن عظيم' },
  { rows: ['अआइईउऊएऐओऔ', 'कखगघचछजझटठडढतथदधन'], pangram: 'ऋषियों को सताने वाले दुष्ट राक्षसों के राजा' },
  { rows: ['กขคงจฉชซญดตถทธนบปผฝพฟมยรลวสหอฮ'], pangram: 'เป็นมนุษย์สุดประเสริฐเลิศคุณค่า' },
  {
    rows: ['あいうえおかきくけこさしすせそ', 'アイウエオカキクケコサシスセソ'],
    pangram: 'いろはにほへと ちりぬるを',
  },
  { rows: ['가나다라마바사아자차카타파하'], pangram: '다람쥐 헌 쳇바퀴에 타고파' },
  { rows: ['天地玄黄宇宙洪荒日月盈昃'], pangram: '我能吞下玻璃而不伤身体' },
];

/** Columns and rows of the glyph grid at the end of the specimen. */
const GRID_COLUMNS = 16;
const GRID_ROWS = 5;
/** Maximum number of glyphs considered for the rows, because a font may declare a million of them. */
const MOST_LOOKED_AT = 4000;

/** Opens a font, or the first font of a collection. */
function openFont(bytes: Buffer): Font {
  const opened = create(bytes);
  const font = 'fonts' in opened ? opened.fonts[0] : opened;
  if (font === undefined || !(font.unitsPerEm > 0) || !(font.numGlyphs > 0)) {
    throw new BrokenFile(sentence('the font has no outlines'));
  }
  return font;
}

/** Returns a name from the font; null if it has no readable one. */
function nameOf(font: Font, key: 'familyName' | 'subfamilyName' | 'fullName'): string | null {
  try {
    const name: unknown = font[key];
    return typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, 100) : null;
  } catch {
    return null;
  }
}

function hasAll(font: Font, text: string): boolean {
  return [...text].every(
    (character) => character === ' ' || font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0),
  );
}

/** Sets a line in the font at the requested size, or smaller if it would exceed the width of the sheet. */
function lineThatFits(font: Font, text: string, size: number, y: number): Line {
  const line = lineOf(font, text, size, MARGIN, y);
  if (line.width <= ROOM) return line;
  return lineOf(font, text, (size * ROOM) / line.width, MARGIN, y);
}

/** Returns path data of the first glyphs that have an outline, in rows below `top`, and the number of rows. */
function gridOf(font: Font, top: number, rows: number): { data: string; rows: number } {
  const cell = ROOM / GRID_COLUMNS;
  const size = cell * 0.56;
  const scale = size / font.unitsPerEm;
  const characters = font.characterSet.slice(0, MOST_LOOKED_AT);
  let [data, count] = ['', 0];
  for (const codePoint of characters) {
    if (count === GRID_COLUMNS * rows) break;
    const glyph = font.glyphForCodePoint(codePoint);
    const width = glyph.advanceWidth * scale;
    if (!Number.isFinite(width)) continue;
    const [column, row] = [count % GRID_COLUMNS, Math.floor(count / GRID_COLUMNS)];
    const left = MARGIN + column * cell + (cell - width) / 2;
    const drawn = outline(glyph, scale, left, top + row * cell + cell * 0.7);
    if (drawn === '') continue;
    data += drawn;
    count += 1;
  }
  return { data, rows: Math.ceil(count / GRID_COLUMNS) };
}

/** Returns a horizontal rule between two parts of the specimen. */
function ruleAt(y: number): string {
  return `M${MARGIN} ${y}h${ROOM}v2h${-ROOM}Z`;
}

/** Sets a text in one of our own faces, smaller if it would exceed the width of the sheet. */
function labelled(face: 'regular' | 'bold', text: string, size: number, y: number): string {
  return pathOf(face, text, Math.min(size, (size * ROOM) / measure(face, text, size)), MARGIN, y);
}

async function drawSpecimen(font: Font, outDir: string): Promise<Still> {
  const family = nameOf(font, 'familyName') ?? nameOf(font, 'fullName') ?? 'Unnamed font';
  const details = [family, nameOf(font, 'subfamilyName'), `${font.numGlyphs.toLocaleString('en')} glyphs`];
  const script = scripts.find(({ rows, pangram }) => hasAll(font, rows.join('') + pangram));
  let y = MARGIN + 100;
  // Symbol fonts lack the letters of their own name.
  const title = hasAll(font, family) ? lineThatFits(font, family, 110, y).data : '';
  const heading = title === '' ? labelled('bold', family, 84, y) : title;
  y += 62;
  const caption = labelled('regular', details.filter((part) => part !== null).join('  ·  '), 26, y);
  y += 40;
  const rules = [ruleAt(y)];
  const letters: string[] = [];
  if (script !== undefined) {
    for (const row of script.rows) {
      y += 82;
      letters.push(lineThatFits(font, row, 64, y).data);
    }
    y += 50;
    for (const size of [68, 48, 34, 24]) {
      y += Math.round(size * 1.45);
      letters.push(lineThatFits(font, script.pangram, size, y).data);
    }
    y += 60;
    rules.push(ruleAt(y));
  }
  y += 40;
  const grid = gridOf(font, y, script === undefined ? GRID_ROWS + 3 : GRID_ROWS);
  if ([title, grid.data, ...letters].every((data) => data === ''))
    throw new NotDrawable(sentence('the font has no outlines'));
  const height = Math.round(y + (grid.rows * ROOM) / GRID_COLUMNS + MARGIN / 2);
  const paths = [
    { data: rules.join(''), fill: RULE },
    { data: caption, fill: FAINT },
    ...[heading, ...letters, grid.data].map((data) => ({ data, fill: INK })),
  ];
  return { picture: await drawSheet({ width: WIDTH, height, background: '#ffffff', paths }, outDir) };
}

/**
 * Makes a specimen of a font: its name, its letters, a sentence in several sizes and rows of glyphs. Throws
 * NotDrawable for a font without outlines, and BrokenFile for a damaged one.
 */
export const fontStill: StillMaker = async ({ path }, outDir) => {
  const { size } = await stat(path);
  if (size > MOST_BYTES) throw tooLarge(size);
  const bytes = await readFile(path);
  return asFileFault(sentence('the font is damaged'), () => drawSpecimen(openFont(bytes), outDir));
};
