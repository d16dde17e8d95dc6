import { type FileHandle, open, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress, inflate } from 'node:zlib';

/** Larger than any font's name table, and than any compressed web font. */
const MAX_TABLE = 4 * 1024 * 1024;
const MAX_PACKED = 32 * 1024 * 1024;
const MAX_UNPACKED = 128 * 1024 * 1024;

/** Names by their number in the table, with ExifTool's names for them. */
const nameTags = new Map([
  [0, 'Font:Copyright'],
  [1, 'Font:FontFamily'],
  [9, 'Font:Designer'],
  [16, 'Font:PreferredFamily'],
]);

/** Returns bytes of a file; fewer at its end. */
async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const room = Buffer.alloc(length);
  const { bytesRead } = await file.read(room, 0, length, at);
  return room.subarray(0, bytesRead);
}

/** Returns the name table of an uncompressed font, or of the first font of a collection. */
async function plainTable(file: FileHandle, start = 0): Promise<Buffer | null> {
  const count = (await bytesAt(file, start, 12)).readUInt16BE(4);
  const directory = await bytesAt(file, start + 12, count * 16);
  for (let at = 0; at + 16 <= directory.length; at += 16) {
    if (directory.toString('latin1', at, at + 4) !== 'name') continue;
    const length = Math.min(directory.readUInt32BE(at + 12), MAX_TABLE);
    return bytesAt(file, directory.readUInt32BE(at + 8), length);
  }
  return null;
}

/** Returns the name table of a WOFF, whose tables are compressed individually. */
async function woffTable(file: FileHandle): Promise<Buffer | null> {
  const count = (await bytesAt(file, 0, 44)).readUInt16BE(12);
  const directory = await bytesAt(file, 44, count * 20);
  for (let at = 0; at + 20 <= directory.length; at += 20) {
    if (directory.toString('latin1', at, at + 4) !== 'name') continue;
    const [packed, plain] = [directory.readUInt32BE(at + 8), directory.readUInt32BE(at + 12)];
    const bytes = await bytesAt(file, directory.readUInt32BE(at + 4), Math.min(packed, MAX_TABLE));
    return packed < plain ? promisify(inflate)(bytes, { maxOutputLength: MAX_TABLE }) : bytes;
  }
  return null;
}

/** The relevant ones of the table tags that WOFF2 encodes as numbers. */
const NAME = 5;
const GLYF = 10;
const LOCA = 11;
const WRITTEN_OUT = 63;

interface Packed {
  isName: boolean;
  length: number;
}

/** Reads the directory of a WOFF2: the tag of each table and its length in the decompressed data. */
function woff2Directory(bytes: Buffer, count: number): { tables: Packed[]; end: number } {
  let at = 0;
  const base128 = (): number => {
    for (let value = 0, read = 0; read < 5; read += 1) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value = value * 128 + (byte & 0x7f);
      if (byte < 128) return value;
    }
    throw new Error('a length in the font is invalid');
  };
  const tables = Array.from({ length: count }, (): Packed => {
    const flags = bytes.readUInt8(at);
    at += 1;
    const number = flags & 0x3f;
    const tag = number === WRITTEN_OUT ? bytes.toString('latin1', at, at + 4) : '';
    if (number === WRITTEN_OUT) at += 4;
    const plain = base128();
    const outlines = number === GLYF || number === LOCA || tag === 'glyf' || tag === 'loca';
    const isPlain = flags >> 6 === (outlines ? 3 : 0);
    return { isName: number === NAME || tag === 'name', length: isPlain ? plain : base128() };
  });
  return { tables, end: at };
}

/** Returns the name table of a WOFF2, whose tables are compressed together. */
async function woff2Table(file: FileHandle): Promise<Buffer | null> {
  const head = await bytesAt(file, 0, 48);
  const count = head.readUInt16BE(12);
  // An entry has flags, a tag and two lengths of at most five bytes each.
  const { tables, end } = woff2Directory(await bytesAt(file, 48, count * 15), count);
  const index = tables.findIndex(({ isName }) => isName);
  const table = tables[index];
  const size = head.readUInt32BE(20);
  // A collection has its own directory before the data.
  if (table === undefined || size > MAX_PACKED || head.toString('latin1', 4, 8) === 'ttcf') return null;
  const packed = await bytesAt(file, 48 + end, size);
  const plain = await promisify(brotliDecompress)(packed, { maxOutputLength: MAX_UNPACKED });
  const start = tables.slice(0, index).reduce((sum, { length }) => sum + length, 0);
  return plain.subarray(start, start + table.length);
}

async function tableOf(file: FileHandle): Promise<Buffer | null> {
  const head = await bytesAt(file, 0, 16);
  switch (head.toString('latin1', 0, 4)) {
    case 'wOFF':
      return woffTable(file);
    case 'wOF2':
      return woff2Table(file);
    case 'ttcf':
      return plainTable(file, head.readUInt32BE(12));
    case 'OTTO':
    case 'true':
    case '\0\u0001\0\0':
      return plainTable(file);
    default:
      return null;
  }
}

const MICROSOFT = 3;
const MACINTOSH = 1;
const AMERICAN = 0x409;

/** Decodes a name. All platforms but the oldest use UTF-16. */
function textOf(platform: number, bytes: Buffer): string {
  if (platform === MACINTOSH) return bytes.toString('latin1');
  return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)))
    .swap16()
    .toString('utf16le');
}

/** Returns the names in a table, with those in American English first. */
function namesIn(table: Buffer): [string, string][] {
  const [count, texts] = [table.readUInt16BE(2), table.readUInt16BE(4)];
  const found: { tag: string; text: string; isFirst: boolean }[] = [];
  for (let i = 0, at = 6; i < count && at + 12 <= table.length; i += 1, at += 12) {
    const [platform, language] = [table.readUInt16BE(at), table.readUInt16BE(at + 4)];
    const tag = nameTags.get(table.readUInt16BE(at + 6));
    const start = texts + table.readUInt16BE(at + 10);
    const text = textOf(platform, table.subarray(start, start + table.readUInt16BE(at + 8)));
    const isFirst = platform === MICROSOFT && language === AMERICAN;
    if (tag !== undefined && text.trim() !== '') found.push({ tag, text, isFirst });
  }
  return [...found.filter(({ isFirst }) => isFirst), ...found].map(({ tag, text }) => [tag, text]);
}

/** Returns whether a file is a web font (WOFF or WOFF2), which ExifTool does not read. */
export async function isWebFont(path: string): Promise<boolean> {
  // Opening a named pipe would block until another process writes to it.
  if (!(await stat(path)).isFile()) return false;
  const file = await open(path, 'r');
  try {
    return /^wOF[F2]/.test((await bytesAt(file, 0, 4)).toString('latin1'));
  } finally {
    await file.close();
  }
}

/** Returns the names of a font, compressed or not, and nothing for other files. Throws for a broken font. */
export async function fontNames(path: string): Promise<[string, string][]> {
  const file = await open(path, 'r');
  try {
    const table = await tableOf(file);
    return table === null ? [] : namesIn(table);
  } finally {
    await file.close();
  }
}
