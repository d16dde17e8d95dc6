import { isUtf8 } from 'node:buffer';
import { sentence, WordedError } from '../../platform/language/sentence.ts';

/** The values and rows of an `INSERT` statement, as MySQL and MariaDB write them into a dump. */

const windows1252 = new TextDecoder('windows-1252');

const [quote, backslash, open, close, comma, zero] = [39, 92, 40, 41, 44, 48] as const;

/** The characters that a backslash stands for, by their codes; any other character stands for itself. */
const escaped = new Map([
  [0x30, 0x00],
  [0x62, 0x08],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
  [0x5a, 0x1a],
]);

/** The bytes of Windows-1252 whose characters have other codes. */
const byteOfCharacter = new Map(
  Array.from({ length: 32 }, (_, at) => [windows1252.decode(Buffer.of(0x80 + at)), 0x80 + at] as const),
);

/**
 * Undoes the conversion of UTF-8 that was stored in a column declared as latin1: the server took each byte for a
 * character. Returns the text unchanged if it is not of this kind.
 */
export function undoDoubleEncoding(text: string): string {
  if (!/[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u2122]/.test(text)) return text;
  const bytes: number[] = [];
  for (const character of text) {
    const code = byteOfCharacter.get(character) ?? character.codePointAt(0) ?? 0;
    if (code > 0xff) return text;
    bytes.push(code);
  }
  const restored = Buffer.from(bytes);
  return isUtf8(restored) ? restored.toString('utf8') : text;
}

/** Decodes bytes of a dump: UTF-8, or Windows-1252 as dumps of old servers have it. */
function decodeBytes(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : windows1252.decode(bytes);
}

/** A value with the position after it; null if the bytes end before the value does. */
type Scanned<T> = { value: T; end: number } | null;

function withoutEscapes(bytes: Buffer): Buffer {
  const plain = Buffer.alloc(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    let byte = bytes[at] ?? 0;
    if (byte === backslash || byte === quote) {
      at += 1;
      const next = bytes[at] ?? byte;
      byte = byte === backslash ? (escaped.get(next) ?? next) : next;
    }
    plain[length] = byte;
    length += 1;
  }
  return plain.subarray(0, length);
}

/** A quoted text: where it ends, whether it has no escapes, and whether it is ASCII. */
interface Quoted {
  end: number;
  isPlain: boolean;
  isAscii: boolean;
}

/** Returns the end of a quoted text, behind its closing quote; `at` is behind the opening one. */
function endOfQuoted(bytes: Buffer, at: number): Quoted | null {
  let isPlain = true;
  let isAscii = true;
  for (let here = at; here < bytes.length; here += 1) {
    const byte = bytes[here] ?? 0;
    if (byte > 127) isAscii = false;
    if (byte === backslash) {
      isPlain = false;
      here += 1;
    } else if (byte === quote) {
      // The next byte decides whether the quote is doubled.
      if (here + 1 >= bytes.length) return null;
      if (bytes[here + 1] !== quote) return { end: here + 1, isPlain, isAscii };
      isPlain = false;
      here += 1;
    }
  }
  return null;
}

function contentOf(bytes: Buffer, at: number, { end, isPlain }: Quoted): Buffer {
  const content = bytes.subarray(at, end - 1);
  return isPlain ? content : withoutEscapes(content);
}

function decodeQuoted(bytes: Buffer, at: number, quoted: Quoted): string {
  // The common case, without a copy.
  if (quoted.isPlain && quoted.isAscii) return bytes.toString('latin1', at, quoted.end - 1);
  return decodeBytes(contentOf(bytes, at, quoted));
}

/** Returns the end of an unquoted part: a number, NULL, or the prefix of a text. */
function endOfBare(bytes: Buffer, at: number): number | null {
  for (let end = at; end < bytes.length; end += 1) {
    const byte = bytes[end];
    if (byte === comma || byte === close || byte === quote) return end;
  }
  return null;
}

function bareValue(text: string): string | null {
  if (/^[1-9-]/.test(text)) return text;
  if (/^null$/i.test(text)) return null;
  if (/^0x[0-9a-f]*$/i.test(text)) return decodeBytes(Buffer.from(text.slice(2), 'hex'));
  return text;
}

/** Scans a number, NULL, a text, or a text or hexadecimal digits behind a prefix such as `_binary`. */
function scanValue(bytes: Buffer, at: number): Scanned<string | null> {
  if (bytes[at] === quote) {
    const quoted = endOfQuoted(bytes, at + 1);
    return quoted && { value: decodeQuoted(bytes, at + 1, quoted), end: quoted.end };
  }
  const end = endOfBare(bytes, at);
  if (end === null) return null;
  const bare = bytes.toString('latin1', at, end).trim();
  if (bytes[end] !== quote) return { value: bareValue(bare), end };
  const quoted = endOfQuoted(bytes, end + 1);
  if (quoted === null) return null;
  const prefix = bare.toLowerCase();
  const isHex = prefix === 'x';
  const stored = contentOf(bytes, end + 1, quoted);
  const content = isHex ? Buffer.from(stored.toString('latin1'), 'hex') : stored;
  if (prefix === 'b')
    return { value: String(Number.parseInt(content.toString('latin1'), 2)), end: quoted.end };
  return { value: decodeBytes(content), end: quoted.end };
}

/** Returns the end of a value of any kind without decoding it. */
function endOfValue(bytes: Buffer, at: number): number | null {
  const end = bytes[at] === quote ? at : endOfBare(bytes, at);
  if (end === null || bytes[end] !== quote) return end;
  return endOfQuoted(bytes, end + 1)?.end ?? null;
}

function skipBlanks(bytes: Buffer, at: number): number {
  let here = at;
  while (here < bytes.length && (bytes[here] ?? zero) <= 32) here += 1;
  return here;
}

/** The kept values of a row, and the number of all its values. */
interface Row {
  kept: (string | null)[];
  length: number;
}

/** Scans `(value, value, ...)` and decodes the values at the positions that are kept. Throws if the bytes are something else. */
export function scanRow(bytes: Buffer, at: number, isKept: readonly boolean[]): Scanned<Row> {
  let here = skipBlanks(bytes, at);
  if (here >= bytes.length) return null;
  if (bytes[here] !== open) throw new WordedError(sentence('a row does not begin with a parenthesis'));
  const kept: (string | null)[] = [];
  for (let length = 1; ; length += 1) {
    const from = skipBlanks(bytes, here + 1);
    if (isKept[length - 1] === true) {
      const scanned = scanValue(bytes, from);
      if (scanned === null) return null;
      kept.push(scanned.value);
      here = scanned.end;
    } else {
      const end = endOfValue(bytes, from);
      if (end === null) return null;
      here = end;
    }
    here = skipBlanks(bytes, here);
    if (here >= bytes.length) return null;
    if (bytes[here] === close) return { value: { kept, length }, end: here + 1 };
    if (bytes[here] !== comma)
      throw new WordedError(sentence('a value is followed by neither a comma nor a parenthesis'));
  }
}
